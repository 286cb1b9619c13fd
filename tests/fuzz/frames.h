/* frames.h - a table made of a fuzzer's bytes.
 *
 * So that the checksums do not keep everything out, an input that starts with
 * 'f' is a list of frames without them: kind, rows, length (a byte each),
 * payload.  Any other is the file itself.
 */
#ifndef TESTS_FUZZ_FRAMES_H
#define TESTS_FUZZ_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/recording/tgr.h"
#include "common/recording/tgr_impl.h"

static inline void add_frame(struct buf *file, const uint8_t *head,
                             const uint8_t *payload, size_t len)
{
    char h[FRAME_HEADER] = {0};

    put_u32(h, FRAME_MAGIC);
    put_u16(h + 4, head[0]);
    put_u32(h + 8, head[1] == 255 ? TGR_MAX_ROWS : head[1]);
    put_u32(h + 12, (uint32_t)len);
    put_u32(h + 16, frame_crc(h, (const char *)payload, len));
    buf_add(file, h, sizeof(h));
    buf_add(file, payload, len);
}

static inline void make_file(struct buf *file, const uint8_t *data, size_t size)
{
    buf_init(file, (size_t)1 << 24);
    if (size == 0 || data[0] != 'f') {
        buf_add(file, data, size);
        return;
    }
    buf_add(file, FILE_MAGIC "\1\0\0\0\0\0\0\0", FILE_HEADER);
    for (size_t at = 1; at + 3 <= size;) {
        size_t len = data[at + 2];

        if (len > size - at - 3)
            len = size - at - 3;
        add_frame(file, data + at, data + at + 3, len);
        at += 3 + len;
    }
}

#endif
