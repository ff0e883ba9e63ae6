// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/chrome.hpp>

#include "../view/timeline/draw.hpp"
#include "chrome_canvas.hpp"

namespace coroscope::analysis {

result<chrome_totals> export_chrome(const trace& from, const byte_sink& sink) {
    chrome_canvas canvas(from, sink);
    const chrome_totals totals = draw(from, canvas);
    if (!canvas.finish(totals)) return failure{"the export could not be written"};
    return totals;
}

}  // namespace coroscope::analysis
