package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.fault.Scale;
import io.exactlyonce.chaos.history.ExplainedAnomaly;
import io.exactlyonce.chaos.history.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;

/**
 * Runs the harness once. System properties: {@code chaos.seed} repeats a run's schedule, {@code chaos.long} makes the long one,
 * {@code chaos.store} is {@code postgresql} or {@code dynamodb}, {@code chaos.directory} is where its history and its logs are left.
 */
public final class Chaos {

    private static final int FAILED = 1;
    private static final int MOST_LISTED = 20;

    private Chaos() {}

    /** Ends with exit code 0 only if the checker agrees. */
    public static void main(String[] arguments) {
        System.exit(run());
    }

    private static int run() {
        long seed = Long.getLong("chaos.seed", System.nanoTime() & 0xffffff);
        Store store = Store.named(System.getProperty("chaos.store", "postgresql"));
        Scale scale = store.scale(isLong());
        startWatchdog(scale);
        Cleanup cleanup = new Cleanup();
        Runtime.getRuntime().addShutdownHook(new Thread(cleanup::close, "clean-up"));
        try (cleanup) {
            Path directory = Files.createDirectories(Path.of(System.getProperty("chaos.directory", "target/chaos")))
                    .resolve("seed-%d-%d".formatted(seed, System.currentTimeMillis()))
                    .toAbsolutePath();
            System.out.println(
                    "CHAOS seed=%d store=%s, history and logs in %s".formatted(seed, store.label(), directory));
            Files.createDirectory(directory);
            System.setProperty("chaos.logs", directory.toString());
            System.setProperty("logback.configurationFile", "logback-harness.xml");
            Progress progress = new Progress(System.out);
            Verdict verdict = new ChaosRun(store, seed, scale, directory, cleanup, progress).run();
            report(verdict);
            System.out.println(verdict.line(seed));
            return verdict.holds() ? 0 : FAILED;
        } catch (Exception e) {
            e.printStackTrace(System.out);
            System.out.println("CHAOS seed=%d FAILED: %s".formatted(seed, e.getMessage()));
            return FAILED;
        }
    }

    private static boolean isLong() {
        String value = System.getProperty("chaos.long");
        return value != null && !value.equals("false");
    }

    private static void report(Verdict verdict) {
        verdict.violations().stream()
                .limit(MOST_LISTED)
                .forEach(violation -> System.out.println("VIOLATION: " + violation));
        if (verdict.violations().size() > MOST_LISTED) {
            System.out.println("and %d more".formatted(verdict.violations().size() - MOST_LISTED));
        }
        Arrays.stream(ExplainedAnomaly.Cause.values())
                .forEach(cause -> System.out.println("Explained, %s: %d".formatted(cause, verdict.explainedBy(cause))));
        System.out.println("Dead letters, by reason: " + verdict.deadLetters());
    }

    /** Ends the JVM, with all its clean-up, if a run hangs where no deadline of its own reaches. */
    private static void startWatchdog(Scale scale) {
        long patience = scale.longest().plus(scale.drain()).toMillis() + TimeUnit.MINUTES.toMillis(4);
        TimerTask end = new TimerTask() {
            @Override
            public void run() {
                System.out.println("CHAOS FAILED: the run hangs");
                System.exit(FAILED);
            }
        };
        new Timer("watchdog", true).schedule(end, patience);
    }
}
