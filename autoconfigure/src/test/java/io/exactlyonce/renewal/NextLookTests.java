package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class NextLookTests {

    private static final Duration SOON = Duration.ofMillis(500);

    private final FakeClock clock = new FakeClock();
    private final NextLook next = new NextLook(clock.nanoTime());

    @Test
    void firstLookIsDueAtOnce() {
        assertThat(isDue()).isTrue();
    }

    @Test
    void earliestOfAllAnnouncementsCounts() {
        startOver();
        announce(Duration.ofMillis(600));
        announce(SOON);
        announce(Duration.ofMillis(700));

        clock.advance(SOON.minusNanos(1));
        assertThat(isDue()).isFalse();

        clock.advance(Duration.ofNanos(1));
        assertThat(isDue()).isTrue();
    }

    @Test
    void announcementsBeforeTheLastLookAreForgotten() {
        announce(SOON);
        startOver();

        clock.advance(SOON);

        assertThat(isDue()).isFalse();
    }

    @Test
    void lookFollowsEachSecondWhateverIsAnnounced() {
        startOver();
        announce(Duration.ofHours(1));

        clock.advance(Duration.ofMillis(999));
        assertThat(isDue()).isFalse();

        clock.advance(Duration.ofMillis(1));
        assertThat(isDue()).isTrue();
    }

    @Test
    void momentThatHasLongPassedIsDueNow() {
        startOver();
        announce(Duration.ofDays(-10_000));

        assertThat(isDue()).isTrue();
    }

    /** A monotonic clock may overflow at any time. */
    @Test
    void momentsBeyondTheClocksOverflowAreLater() {
        NextLook atTheLimit = new NextLook(Long.MAX_VALUE - 10);
        atTheLimit.startOver(Long.MAX_VALUE - 10);
        atTheLimit.notAfter(Long.MIN_VALUE + 10);

        assertThat(atTheLimit.isDue(Long.MAX_VALUE)).isFalse();
        assertThat(atTheLimit.isDue(Long.MIN_VALUE + 9)).isFalse();
        assertThat(atTheLimit.isDue(Long.MIN_VALUE + 10)).isTrue();
    }

    private boolean isDue() {
        return next.isDue(clock.nanoTime());
    }

    private void startOver() {
        next.startOver(clock.nanoTime());
    }

    private void announce(Duration fromNow) {
        next.notAfter(clock.nanoTime() + fromNow.toNanos());
    }
}
