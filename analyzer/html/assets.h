/* assets.h - style.css and app.js, embedded by the build (cmake/Embed.cmake).
 */
#ifndef ANALYZER_HTML_ASSETS_H
#define ANALYZER_HTML_ASSETS_H

extern const char asset_style[];
extern const char asset_script[];

#endif
