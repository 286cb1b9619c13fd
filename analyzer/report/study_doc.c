#include "analyzer/report/study_doc.h"

#include "analyzer/search/search_read.h"
#include "analyzer/studies/sweep.h"
#include "analyzer/studies/variants.h"
#include "common/base/err.h"
#include "common/text/units.h"

static struct doc *trials_at(const char *dir, const struct study_doc_ask *ask,
                             int64_t *stopped_by, struct err *err)
{
    struct trials_summary s;
    struct doc *d = NULL;

    if (trials_read(&s, dir, ask->slo, ask->cost, err) == 0) {
        if (ask->require > 0)
            s.require_shown = ask->require - 1 == REQUIRE_SHOWN;
        *stopped_by = s.stopped_by;
        d = trials_doc(&s);
    }
    trials_summary_fini(&s);
    return d;
}

static struct doc *sweep_at(const char *dir, const struct study_doc_ask *ask,
                            int64_t *stopped_by, struct err *err)
{
    struct sweep_summary s;
    struct doc *d = NULL;

    if (sweep_read(&s, dir, ask->slo, ask->cost, err) == 0) {
        *stopped_by = s.set.stopped_by;
        d = sweep_doc(&s);
    }
    sweep_summary_fini(&s);
    return d;
}

static struct doc *search_at(const char *dir, const struct study_doc_ask *ask,
                             int64_t *stopped_by, struct err *err)
{
    struct search_summary s;
    struct doc *d = NULL;

    if (search_read(&s, dir, ask->slo, err) == 0) {
        *stopped_by = s.is_of_others ? 0 : s.set.stopped_by;
        d = search_doc(&s);
    }
    search_summary_fini(&s);
    return d;
}

static struct doc *variants_at(const char *dir, const struct study_doc_ask *ask,
                               int64_t *stopped_by, struct err *err)
{
    struct variants_summary s;
    struct doc *d = NULL;
    double smallest = -1;

    if (ask->smallest && units_parse_share(ask->smallest, &smallest, err)) {
        err_context(err, "--smallest-difference");
        return NULL;
    }
    if (variants_read(&s, dir, ask->slo, ask->cost, smallest, err) == 0) {
        *stopped_by = s.set.stopped_by;
        d = variants_doc(&s);
    }
    variants_summary_fini(&s);
    return d;
}

struct doc *study_doc_of(const char *dir, enum study_kind kind,
                         const struct study_doc_ask *ask, int64_t *stopped_by,
                         struct err *err)
{
    switch (kind) {
    case STUDY_SWEEP:
        return sweep_at(dir, ask, stopped_by, err);
    case STUDY_SEARCH:
        return search_at(dir, ask, stopped_by, err);
    case STUDY_VARIANTS:
        return variants_at(dir, ask, stopped_by, err);
    default:
        return trials_at(dir, ask, stopped_by, err);
    }
}
