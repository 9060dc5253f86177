package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.visibility.FakeTimer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.backoff.FixedBackOff;

@ExtendWith(OutputCaptureExtension.class)
class StoreCallsTests {

    private static final int MESSAGES = 50;
    private static final int RETRIES = 20;

    private final FakeTimer timer = new FakeTimer();
    private final StoreCalls calls = new StoreCalls(timer);
    private final AtomicBoolean away = new AtomicBoolean();

    private CompletableFuture<Object> complete() {
        return calls.untilAnswered(
                "Completing",
                "orders/1",
                new FixedBackOff(1, Long.MAX_VALUE),
                () -> true,
                () -> away.get()
                        ? CompletableFuture.failedFuture(new IllegalStateException(
                                "no connection", new IllegalStateException("refused\n  Hint: is the server running?")))
                        : CompletableFuture.completedFuture("recorded"));
    }

    private void outage() {
        away.set(true);
        for (int message = 0; message < MESSAGES; message++) {
            complete();
        }
        for (int retry = 1; retry < RETRIES; retry++) {
            timer.run();
        }
        away.set(false);
        timer.run();
    }

    private static long traces(CapturedOutput output) {
        return output.getOut()
                .lines()
                .filter(line -> line.startsWith(IllegalStateException.class.getName()))
                .count();
    }

    /** 50 messages in hand had logged 4,566 lines in 30 s. */
    @Test
    void outageIsLoggedWithOneStackTraceAndOneLineForEachRetry(CapturedOutput output) {
        timer.hold();

        outage();

        assertThat(traces(output)).isOne();
        assertThat(output.getOut().lines().filter(line -> line.contains("Completing orders/1 failed; trying again")))
                .hasSize(MESSAGES * RETRIES);
        assertThat(output.getOut().lines().filter(line -> line.contains("Hint")))
                .as("in the trace")
                .hasSize(1);
        assertThat(output).contains("trying again: java.lang.IllegalStateException: refused");
    }

    @Test
    void nextOutageHasAStackTraceOfItsOwn(CapturedOutput output) {
        timer.hold();

        outage();
        complete();
        outage();

        assertThat(traces(output)).isEqualTo(2);
    }

    /** As of a key that is throttled. */
    @Test
    void answersOfOtherCallsBringNoStackTraceMoreWhileOneIsRepeated(CapturedOutput output) {
        timer.hold();
        away.set(true);
        complete();
        for (int retry = 1; retry < RETRIES; retry++) {
            away.set(false);
            assertThat(complete()).isCompleted();
            away.set(true);
            timer.run();
        }

        assertThat(traces(output)).isOne();
    }

    /** An outage has causes of all kinds: only a call that is itself wrong is not repeated. */
    @Test
    void failureIsJudgedByItselfAndNotByItsCause() {
        IllegalStateException outage = new IllegalStateException("away", new IllegalArgumentException("no such host"));
        AtomicInteger made = new AtomicInteger();

        CompletableFuture<Object> answer = threeTimesMore(() -> {
            made.incrementAndGet();
            return CompletableFuture.failedFuture(outage);
        });

        assertThat(answer.handle((given, failure) -> failure).getNow(null)).isSameAs(outage);
        assertThat(made).hasValue(4);
    }

    /** What it asked for may have happened, although its last attempt never reached the store. */
    @Test
    void callFailsWithWhatItFailedWithWhenItReachedTheStore() {
        IllegalStateException outage = new IllegalStateException("connection reset");
        AtomicInteger made = new AtomicInteger();

        CompletableFuture<Object> answer = threeTimesMore(() -> CompletableFuture.failedFuture(
                made.incrementAndGet() == 2 ? outage : new ClaimStoreBusyException("busy")));

        assertThat(answer.handle((given, failure) -> failure).getNow(null)).isSameAs(outage);
    }

    @Test
    void failureWithoutACauseIsTheFailureItself() {
        CompletionException bare = new CompletionException((Throwable) null);

        assertThat(StoreCalls.unwrap(bare)).isSameAs(bare);
    }

    private CompletableFuture<Object> threeTimesMore(Supplier<CompletableFuture<Object>> call) {
        return calls.untilAnswered("Completing", "orders/1", new FixedBackOff(1, 3), () -> true, call);
    }
}
