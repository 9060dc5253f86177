package io.exactlyonce.window;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Writes runs as tables of Markdown. */
final class Report {

    private Report() {}

    /** Returns the table of runs that contain drift. */
    static String leads(List<Played> runs) {
        return table(
                "| Shape | Warned at | Overrun at | Lead | Strays in 1,000 |\n|---|---|---|---|---|\n",
                runs,
                each -> "| %s | %s | %s | %s | %s |"
                        .formatted(
                                each.shape().name(),
                                time(each.run().warnedAt()),
                                time(each.run().overrunAt()),
                                time(each.run().lead()),
                                number(each.run().straysPerThousand())));
    }

    /** Returns the table of steady loads. */
    static String alarms(List<Played> runs) {
        return table(
                "| Steady load | Deliveries | Warnings | Strays in 1,000 |\n|---|---|---|---|\n",
                runs,
                each -> "| %s | %,d | %d | %s |"
                        .formatted(
                                each.shape().name(),
                                each.run().samples(),
                                each.run().warnings(),
                                number(each.run().straysPerThousand())));
    }

    private static String table(String head, List<Played> runs, Function<Played, String> row) {
        return runs.stream().map(row).collect(Collectors.joining("\n", head, "\n"));
    }

    static String time(double seconds) {
        if (Double.isNaN(seconds)) {
            return "never";
        }
        long whole = Math.round(Math.abs(seconds));
        String text = "%s%d:%02d:%02d"
                .formatted(
                        whole >= 86_400 ? whole / 86_400 + " d " : "", whole / 3_600 % 24, whole / 60 % 60, whole % 60);
        return seconds < 0 ? "-" + text : text;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    /** A shape and its result. */
    record Played(Shape shape, SimulatedRun run) {

        static Played of(Shape shape, long seed) {
            return new Played(shape, SimulatedRun.of(shape, seed));
        }
    }
}
