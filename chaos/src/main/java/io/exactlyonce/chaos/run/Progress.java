package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.cluster.FaultLog;
import io.exactlyonce.chaos.history.Fault;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Prints the progress of a run. */
final class Progress {

    private final PrintStream out;
    private final long startNanos = System.nanoTime();

    Progress(PrintStream out) {
        this.out = out;
    }

    void say(String text) {
        out.println(text.stripTrailing());
    }

    void show(int sent, ChaosEnvironment environment) {
        FaultLog log = environment.targets().log();
        String faults = Arrays.stream(Fault.values())
                .filter(fault -> log.count(fault) > 0)
                .map(fault -> "%s=%d".formatted(fault, log.count(fault)))
                .collect(Collectors.joining(" "));
        say("%4d s: sent %d, delivered %d; %s"
                .formatted(
                        (System.nanoTime() - startNanos) / 1_000_000_000L,
                        sent,
                        environment.history().deliveries(),
                        faults));
    }
}
