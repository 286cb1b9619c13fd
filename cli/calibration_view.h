/* calibration_view.h - a calibration as text.  Pure. */
#ifndef CLI_CALIBRATION_VIEW_H
#define CLI_CALIBRATION_VIEW_H

struct buf;
struct calibration;

void calibration_view(const struct calibration *c, struct buf *out);

#endif
