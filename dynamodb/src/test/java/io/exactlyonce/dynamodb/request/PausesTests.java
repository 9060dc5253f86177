package io.exactlyonce.dynamodb.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.dynamodb.testing.FakeScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PausesTests {

    private static final int MANY = 200;

    private final List<Duration> waited = new ArrayList<>();

    /** All of the many pauses are short by chance in one of 10^60 runs. */
    @Test
    void eachPauseMayBeTwiceAsLongAsTheOneBefore() {
        Pauses pauses = Pauses.withFullJitter(new FakeScheduler((delay, task) -> waited.add(delay)));

        for (int attempt = 1; attempt <= Pauses.ATTEMPTS; attempt++) {
            int failed = attempt;
            waited.clear();
            IntStream.range(0, MANY).forEach(time -> pauses.after(failed));

            Duration longest = Duration.ofMillis(50L << (attempt - 1));
            assertThat(waited)
                    .hasSize(MANY)
                    .allMatch(delay -> delay.compareTo(longest) < 0)
                    .anyMatch(delay -> delay.compareTo(longest.dividedBy(2)) > 0)
                    .anyMatch(delay -> delay.compareTo(longest.dividedBy(2)) < 0);
        }
    }

    @Test
    void pauseIsOverWhenTheSchedulerSaysSo() {
        List<Runnable> due = new ArrayList<>();
        Pauses pauses = Pauses.withFullJitter(new FakeScheduler((delay, task) -> due.add(task)));

        CompletableFuture<Void> over = pauses.after(1);
        assertThat(over).isNotDone();
        due.get(0).run();

        assertThat(over).isCompleted();
    }
}
