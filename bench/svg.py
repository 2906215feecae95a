# SPDX-License-Identifier: BSD-3-Clause
"""Small plots as SVG that can be read on light and on dark pages."""
import html
import math

STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.small { font-size: 11px; fill: #59636e }
.grid { stroke: #d1d9e0 } .axis { stroke: #818b98 }
.own { fill: #0969da } .peer { fill: #818b98 } .cpu { fill: #d1d9e0 }
.line { fill: none; stroke-width: 2 } .first { stroke: #0969da } .second { stroke: #bc4c00; stroke-dasharray: 5 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .small { fill: #9198a1 } .grid { stroke: #3d444d } .axis { stroke: #656c76 }
  .own { fill: #4493f8 } .peer { fill: #9198a1 } .cpu { fill: #3d444d }
  .first { stroke: #4493f8 } .second { stroke: #db6d28 }
}
</style>"""


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def text(x, y, words, anchor="start", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{html.escape(words)}</text>'


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def document(width, height, title, parts):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" width="{width}">'
    return "\n".join([head, f"<title>{html.escape(title)}</title>", STYLE, *parts, "</svg>"]) + "\n"


def bars(title, rows, label_width=330, width=760):
    """Horizontal bars on a logarithmic scale; rows of (label, value, class)."""
    step, top = 24, 28
    low = 10 ** math.floor(math.log10(min(value for _, value, _ in rows)))
    high = max(value for _, value, _ in rows)
    room = width - label_width - 60
    x = lambda value: label_width + room * math.log(value / low) / math.log(high / low)
    bottom = top + step * len(rows)
    parts = [text(label_width, 16, title, kind="small")]
    tick = low
    while tick <= high:
        parts.append(line(x(tick), top, x(tick), bottom, "grid"))
        parts.append(text(x(tick), bottom + 15, number(tick), "middle", "small"))
        tick *= 10
    for i, (label, value, kind) in enumerate(rows):
        y = top + step * i
        parts.append(text(label_width - 8, y + 16, label, "end"))
        long = max(x(value) - label_width, 1)
        parts.append(f'<rect x="{label_width}" y="{y + 4}" width="{long:.1f}" height="16" class="{kind}"/>')
        parts.append(text(x(value) + 5, y + 16, number(value)))
    return document(width, bottom + 24, title, parts)


def round_up(value):
    """To a number with one digit, or 1.5 or 2.5 of it."""
    unit = 10 ** math.floor(math.log10(value))
    return next(unit * step for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if unit * step >= value)


def panel(left, top, width, height, title, x_label, series):
    """One plot; series of (name, class, points)."""
    points = [point for _, _, line_points in series for point in line_points]
    x_max, y_max = round_up(max(p[0] for p in points)), round_up(max(p[1] for p in points))
    x = lambda value: left + width * value / x_max
    y = lambda value: top + height * (1 - value / y_max)
    parts = [text(left - 34, top - 12, title)]
    for part in (0, 0.5, 1):
        parts += [line(left, y(part * y_max), left + width, y(part * y_max), "grid" if part else "axis")]
        parts += [text(left - 6, y(part * y_max) + 4, number(part * y_max), "end", "small")]
        parts += [text(x(part * x_max), top + height + 16, number(part * x_max), "middle", "small")]
    parts.append(text(left + width / 2, top + height + 32, x_label, "middle", "small"))
    for i, (name, kind, line_points) in enumerate(series):
        places = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line_points)
        parts.append(f'<polyline points="{places}" class="line {kind}"/>')
        if len(series) > 1:
            parts += [line(left + 8, top + 10 + 15 * i, left + 30, top + 10 + 15 * i, f"line {kind}")]
            parts += [text(left + 36, top + 14 + 15 * i, name, kind="small")]
    return parts


def panels(title, plots, width=260, height=130):
    """Plots side by side; each is (title, x label, series)."""
    parts = []
    for i, plot in enumerate(plots):
        parts += panel(52 + i * (width + 10), 34, width - 70, height, *plot)
    return document(len(plots) * (width + 10), height + 76, title, parts)
