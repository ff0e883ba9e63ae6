// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/perfetto.hpp>

#include "../view/timeline/draw.hpp"
#include "perfetto_canvas.hpp"

namespace coroscope::analysis {

result<perfetto_totals> export_perfetto(const trace& from, const byte_sink& sink) {
    perfetto_canvas canvas(from, sink);
    const perfetto_totals totals = draw(from, canvas);
    if (!canvas.finish(totals)) return failure{"the export could not be written"};
    return totals;
}

}  // namespace coroscope::analysis
