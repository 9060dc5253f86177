package io.exactlyonce.sample.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** A table that compares the figures of both sides. */
final class ReportTable {

    private final SideFigures naive;
    private final SideFigures exactlyOnce;
    private final List<String> lines = new ArrayList<>();

    private ReportTable(SideFigures naive, SideFigures exactlyOnce) {
        this.naive = naive;
        this.exactlyOnce = exactlyOnce;
    }

    static List<String> of(SideFigures naive, SideFigures exactlyOnce) {
        ReportTable table = new ReportTable(naive, exactlyOnce);
        table.row("", Kind.NAIVE.label(), Kind.EXACTLY_ONCE.label());
        table.lines.add("  " + "-".repeat(76));
        table.row("orders sent", side -> side.ordered().size());
        table.row("handler calls that asked for a charge", SideFigures::chargeRequests);
        table.row("charges made", side -> side.ledger().total());
        table.row("duplicate charges", SideFigures::duplicates);
        table.row("orders charged more than once", side -> side.ledger().ordersChargedTwiceOrMore());
        table.row("orders shipped more than once", SideFigures::shippedTwice);
        table.row("lost orders (no charge, or no row)", SideFigures::lost);
        table.row(
                "idempotency key honoured by the provider",
                side -> side.ledger().honouredTotal());
        table.row(
                "  of these explained by the SIGKILL",
                side -> side.ledger().explained().size());
        table.row(
                "workers killed in mid-handler (SIGKILL)", side -> side.killed().size());
        table.row("messages left in the queue", SideFigures::left);
        table.row("visibility timeout, ms", side -> side.visibilityTimeout().toMillis());
        table.row("handler p95, ms", side -> side.p95().toMillis());
        table.row("handler p95 / visibility timeout", side -> side.p95InPercentOfWindow() + " %");
        return List.copyOf(table.lines);
    }

    private void row(String title, Function<SideFigures, Object> figure) {
        row(title, figure.apply(naive), figure.apply(exactlyOnce));
    }

    private void row(String title, Object left, Object right) {
        lines.add(String.format(Locale.ROOT, "  %-46s %14s %14s", title, left, right));
    }
}
