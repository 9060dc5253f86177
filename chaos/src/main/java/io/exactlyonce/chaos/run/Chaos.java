package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.fault.Scale;
import io.exactlyonce.chaos.history.ExplainedAnomaly;
import io.exactlyonce.chaos.history.Verdict;
import io.exactlyonce.chaos.soak.Samples;
import io.exactlyonce.chaos.soak.Samples.Judgement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;

/**
 * Runs the harness once. System properties: {@code chaos.seed} repeats a run's schedule, {@code chaos.long} chooses the
 * long run, {@code soak.minutes} chooses a run without faults that measures workers' resources, {@code chaos.store} is
 * {@code postgresql} or {@code dynamodb}, {@code chaos.partitions} is the number of partitions of the claim table in
 * PostgreSQL, and {@code chaos.directory} is the directory for history and logs.
 */
public final class Chaos {

    private static final int FAILED = 1;
    private static final int MOST_LISTED = 20;

    private Chaos() {}

    /** Runs the harness. The exit code is 0 only if the checker accepts the run. */
    public static void main(String[] arguments) {
        System.exit(run());
    }

    private static int run() {
        Form form = Form.ofProperties();
        startWatchdog(form.scale());
        Cleanup cleanup = new Cleanup();
        Runtime.getRuntime().addShutdownHook(new Thread(cleanup::close, "clean-up"));
        try (cleanup) {
            Path directory = createDirectory(form);
            Samples samples = new Samples(directory.resolve("samples.txt"));
            Watch watch =
                    form.soak().<Watch>map(time -> new SoakWatch(samples, time)).orElse(Watch.NONE);
            Verdict verdict = new ChaosRun(form, directory, watch, cleanup, new Progress(System.out)).run();
            report(verdict);
            boolean flat = form.soak().isEmpty()
                    || isFlat(form, samples.judge(form.scale().workers()));
            System.out.println(verdict.line(form.seed()));
            return verdict.holds() && flat ? 0 : FAILED;
        } catch (Exception e) {
            e.printStackTrace(System.out);
            System.out.println("CHAOS seed=%d FAILED: %s".formatted(form.seed(), e.getMessage()));
            return FAILED;
        }
    }

    private static Path createDirectory(Form form) throws IOException {
        Path directory = Files.createDirectories(Path.of(System.getProperty("chaos.directory", "target/chaos")))
                .resolve("seed-%d-%d".formatted(form.seed(), System.currentTimeMillis()))
                .toAbsolutePath();
        System.out.println("CHAOS seed=%d store=%s partitions=%d, history and logs in %s"
                .formatted(form.seed(), form.store().label(), form.partitions(), directory));
        Files.createDirectory(directory);
        System.setProperty("chaos.logs", directory.toString());
        System.setProperty("logback.configurationFile", "logback-harness.xml");
        return directory;
    }

    private static boolean isFlat(Form form, Judgement judgement) {
        judgement.lines().forEach(line -> System.out.println("SOAK " + line));
        System.out.println("SOAK seed=%d store=%s minutes=%d workers=%d | %s"
                .formatted(
                        form.seed(),
                        form.store().label(),
                        form.soak().orElse(Duration.ZERO).toMinutes(),
                        form.scale().workers(),
                        judgement.isFlat() ? "flat" : "NOT FLAT"));
        return judgement.isFlat();
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

    /** Ends the JVM, including its clean-up, if the run hangs at a place without a deadline. */
    private static void startWatchdog(Scale scale) {
        long patience = scale.longest().plus(scale.longestDrain()).toMillis() + TimeUnit.MINUTES.toMillis(4);
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
