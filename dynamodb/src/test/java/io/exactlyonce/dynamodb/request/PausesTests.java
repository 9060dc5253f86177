package io.exactlyonce.dynamodb.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PausesTests {

    private final List<Duration> waited = new ArrayList<>();

    @Test
    void eachPauseIsTwiceAsLongAsTheOneBefore() {
        pauses(1);

        assertThat(waited.stream().map(Duration::toMillis)).containsExactly(50L, 100L, 200L, 400L, 800L, 1_600L);
        assertThat(waited.stream().reduce(Duration.ZERO, Duration::plus)).isLessThan(Duration.ofMillis(3_200));
    }

    @Test
    void chanceCutsThem() {
        pauses(0.25);

        assertThat(waited).startsWith(Duration.ofNanos(12_500_000), Duration.ofMillis(25));
    }

    @Test
    void realPausesTakeTheirTimeAndNoThread() {
        long start = System.nanoTime();

        CompletableFuture<Void> over = Pauses.real(() -> 1).before(1);

        over.join();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(50));
    }

    private void pauses(double jitter) {
        Pauses pauses = new Pauses(() -> jitter, pause -> task -> {
            waited.add(pause);
            task.run();
        });
        IntStream.rangeClosed(1, Pauses.ATTEMPTS)
                .mapToObj(pauses::before)
                .forEach(over -> assertThat(over).isCompleted());
    }
}
