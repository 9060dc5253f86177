package io.exactlyonce.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.queue.RepeatedLines.Kind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RepeatedLinesTests {

    private static final long INTERVAL = Kind.UNREADABLE.interval().toNanos();

    private final RepeatedLines lines = new RepeatedLines();

    /** A monotonic clock may be negative. */
    private long now = -Duration.ofHours(1).toNanos();

    @Test
    void firstReceiveOfEachMessageIsLogged() {
        for (int message = 0; message < 300; message++) {
            assertThat(first()).isEmpty();
        }
    }

    @Test
    void laterReceivesAreCountedAndLoggedOnceAMinute() {
        first();
        for (int receive = 0; receive < 300; receive++) {
            now += INTERVAL / 100;
            String end = later();
            if (end != null) {
                assertThat(end).isEqualTo(" (also 99 times since the last such line)");
            }
        }

        assertThat(later()).isNull();
        now += INTERVAL;
        assertThat(later()).isEqualTo(" (also 1 times since the last such line)");
    }

    /** Another instance may have handled the first receive, so this instance has not logged a line yet. */
    @Test
    void laterReceiveIsLoggedIfNoneWas() {
        assertThat(later()).isEmpty();
        assertThat(later()).isNull();
    }

    @Test
    void lineOfAFirstReceiveHasTheCountToo() {
        first();
        later();
        later();

        assertThat(first()).isEqualTo(" (also 2 times since the last such line)");
        assertThat(first()).isEmpty();
    }

    @Test
    void sendersCannotCauseMoreThanAThousandLinesInAMinute() {
        for (int message = 0; message < RepeatedLines.MOST; message++) {
            assertThat(first()).isEmpty();
        }

        assertThat(first()).isNull();
        now += INTERVAL - 1;
        assertThat(first()).isNull();
        now++;
        assertThat(first()).isEqualTo(" (also 2 times since the last such line)");
    }

    @Test
    void subjectIsNewOnceAmongTheLastThousand() {
        assertThat(lines.isFirst("A")).isTrue();
        assertThat(lines.isFirst("A")).isFalse();
        for (int other = 1; other < RepeatedLines.MOST; other++) {
            assertThat(lines.isFirst(other)).isTrue();
        }
        assertThat(lines.isFirst("A")).isFalse();
        assertThat(lines.isFirst("B")).isTrue();
        assertThat(lines.isFirst(1)).as("the one that was named least recently").isTrue();
    }

    @Test
    void kindsAreLimitedApart() {
        first();

        assertThat(lines.next(Kind.PARKED, false, now)).isEmpty();
        now += INTERVAL;
        assertThat(lines.next(Kind.PARKED, false, now)).isNull();
        assertThat(later()).isEmpty();
    }

    @Test
    void lineWithNothingNewIsDueOnceInItsInterval() {
        Duration hour = Duration.ofHours(1);

        assertThat(lines.isDue("a", hour, now)).isTrue();
        assertThat(lines.isDue("b", hour, now)).isTrue();
        now += hour.toNanos() - 1;
        assertThat(lines.isDue("a", hour, now)).isFalse();
        now++;
        assertThat(lines.isDue("a", hour, now)).isTrue();
        assertThat(lines.isDue("a", hour, now)).isFalse();
    }

    private String first() {
        return lines.next(Kind.UNREADABLE, true, now);
    }

    private String later() {
        return lines.next(Kind.UNREADABLE, false, now);
    }
}
