/* assets.h - style.css, app.js and live.js, embedded by the build
 * (cmake/Embed.cmake). */
#ifndef ANALYZER_HTML_ASSETS_H
#define ANALYZER_HTML_ASSETS_H

extern const char asset_style[];
extern const char asset_script[];
extern const char asset_live[]; /* in addition, where a run serves its page */

#endif
