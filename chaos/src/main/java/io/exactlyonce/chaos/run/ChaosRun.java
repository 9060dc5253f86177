package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.fault.FaultInjection;
import io.exactlyonce.chaos.fault.Scale;
import io.exactlyonce.chaos.fault.Schedule;
import io.exactlyonce.chaos.history.Checker;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.History;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Terms;
import io.exactlyonce.chaos.history.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** One run, from an empty directory to a verdict. */
final class ChaosRun {

    private static final Duration START = Duration.ofMinutes(5);
    private static final Duration RECOVERY = Duration.ofSeconds(10);
    private static final Duration EXPOSURE = Duration.ofMillis(100);
    private static final long LOOK_MILLIS = 250;

    private final Form form;
    private final Scale scale;
    private final Path directory;
    private final Watch watch;
    private final Cleanup cleanup;
    private final Progress progress;

    ChaosRun(Form form, Path directory, Watch watch, Cleanup cleanup, Progress progress) {
        this.form = form;
        this.scale = form.scale();
        this.directory = directory;
        this.watch = watch;
        this.cleanup = cleanup;
        this.progress = progress;
    }

    /** @throws Exception if the harness itself failed */
    Verdict run() throws Exception {
        Schedule schedule = Schedule.draw(form.seed(), scale);
        progress.say(schedule.toString());
        ChaosEnvironment environment = ChaosEnvironment.open(form, directory, cleanup);
        await("All workers listen", START, environment.targets().fleet()::isReady);
        progress.say("All %d workers listen".formatted(scale.workers()));
        Watch.Looking looking = watch.begin(environment.targets().fleet());
        Operators operators = Operators.begin(environment);
        injectFaults(schedule, environment);
        looking.close();
        environment.disorder().calm();
        environment.recorder().record(Event.of(Kind.FAULTS_OVER));
        progress.say("No more faults; %d messages are left"
                .formatted(environment.queues().size()));
        boolean drained = poll(scale.longestDrain(), () -> isDrained(environment));
        environment.recorder().record(Event.of(Kind.DRAINED));
        progress.say(
                drained
                        ? "Drained"
                        : "Not drained: %d messages"
                                .formatted(environment.queues().size()));
        progress.say(
                operators.finish(scale.longestDrain())
                        ? "All that was parked is decided"
                        : "Not all that was parked is decided");
        new FinalStateRecorder(environment.recorder())
                .record(environment.queues(), environment.targets().claims());
        cleanup.close();
        Terms terms =
                new Terms(scale.drain(), scale.longestDrain(), RECOVERY, EXPOSURE, form.store() == Store.DYNAMODB);
        return new Checker(terms).judge(History.read(directory.resolve("history.jsonl")));
    }

    /**
     * Returns whether everything is drained. The order of the checks matters: a handler fills the outbox before its
     * message is gone, and the outbox fills a queue before its row is gone.
     */
    private static boolean isDrained(ChaosEnvironment environment) {
        return environment.queues().size() == 0
                && environment.targets().claims().unsent() == 0
                && environment.queues().size() == 0;
    }

    private void injectFaults(Schedule schedule, ChaosEnvironment environment) throws Exception {
        FaultInjection injection = FaultInjection.begin(schedule, environment.targets());
        AtomicBoolean late = new AtomicBoolean();
        Sender sender = new Sender(
                new Jobs(form.seed(), form.store() == Store.POSTGRESQL),
                environment.queues(),
                scale.messages(),
                injection::isOver);
        CompletableFuture<Void> sending = inBackground(() -> sender.run(scale.millisPerRound(Sender.ROUND), late::get));
        long startNanos = System.nanoTime();
        while (!sending.isDone() || !injection.isOver()) {
            TimeUnit.SECONDS.sleep(5);
            progress.show(sender.sent(), environment);
            if (injection.failure() != null) {
                throw new IllegalStateException("The harness failed to make a fault", injection.failure());
            }
            if (!late.get() && System.nanoTime() - startNanos > form.longest().toNanos()) {
                progress.say("Over after %s, whether all was sent or not".formatted(form.longest()));
                late.set(true);
                injection.end();
            }
        }
        sending.get();
    }

    private static CompletableFuture<Void> inBackground(InterruptibleTask task) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                        done.complete(null);
                    } catch (InterruptedException | RuntimeException e) {
                        done.completeExceptionally(e);
                    }
                },
                "sender");
        thread.setDaemon(true);
        thread.start();
        return done;
    }

    private static void await(String what, Duration patience, BooleanSupplier condition) throws InterruptedException {
        if (!poll(patience, condition)) {
            throw new IllegalStateException("%s: not within %d s".formatted(what, patience.toSeconds()));
        }
    }

    private static boolean poll(Duration patience, BooleanSupplier condition) throws InterruptedException {
        long startNanos = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNanos > patience.toNanos()) {
                return false;
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
        return true;
    }

    private interface InterruptibleTask {
        void run() throws InterruptedException;
    }
}
