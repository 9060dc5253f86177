package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What other threads do while a tick looks. */
class DueSetTests {

    private static final Duration SOON = Duration.ofMillis(200);
    private static final Duration LATER = Duration.ofMillis(600);

    private final FakeClock clock = new FakeClock();
    private final DueSet<Thing> things = new DueSet<>(Thing::announce, clock.nanoTime());

    /** Something that is due at a moment, and what happens just after it has announced that. */
    private final class Thing {

        private long due;
        private Runnable afterwards = () -> {};

        private Thing(Duration fromNow) {
            due = in(fromNow);
        }

        private void announce() {
            things.next().notAfter(due);
            afterwards.run();
        }

        private void change(Duration fromNow) {
            due = in(fromNow);
            things.next().notAfter(due);
        }
    }

    private long in(Duration fromNow) {
        return clock.nanoTime() + fromNow.toNanos();
    }

    private Thing add(Duration fromNow) {
        Thing thing = new Thing(fromNow);
        things.add(thing);
        return thing;
    }

    @Test
    void whatIsAddedIsLookedAtWhenItIsDue() {
        things.looked(clock.nanoTime());

        add(SOON);

        assertThatLookIsDueIn(SOON);
    }

    @Test
    void lookEndsWithTheNextOneOfAllPlanned() {
        add(LATER);
        add(SOON);

        things.looked(clock.nanoTime());

        assertThatLookIsDueIn(SOON);
    }

    /** It was due, and something else has become due since the tick looked at it. */
    @Test
    void changeAfterTheTickHasPassedItButBeforeTheLookEndsIsNotForgotten() {
        Thing passed = add(LATER);

        passed.change(SOON);
        things.looked(clock.nanoTime());

        assertThatLookIsDueIn(SOON);
    }

    /** Whichever is asked first: the other one changes it when it has been asked. */
    @Test
    void changeWhileTheOthersAreAskedIsNotForgotten() {
        Thing one = add(LATER);
        Thing other = add(LATER);
        one.afterwards = () -> other.change(SOON);
        other.afterwards = () -> one.change(SOON);

        things.looked(clock.nanoTime());

        assertThatLookIsDueIn(SOON);
    }

    @Test
    void whatIsAddedWhileTheOthersAreAskedIsNotForgotten() {
        Thing asked = add(LATER);
        asked.afterwards = () -> {
            asked.afterwards = () -> {};
            add(SOON);
        };

        things.looked(clock.nanoTime());

        assertThatLookIsDueIn(SOON);
    }

    @Test
    void changeAfterTheLookIsNotForgotten() {
        Thing thing = add(LATER);
        things.looked(clock.nanoTime());

        thing.change(SOON);

        assertThatLookIsDueIn(SOON);
    }

    @Test
    void whatWasRemovedCausesNoMoreLooks() {
        Thing thing = add(SOON);

        things.remove(thing);
        things.looked(clock.nanoTime());

        clock.advance(SOON);
        assertThat(things.isDue(clock.nanoTime())).isFalse();
        assertThat(things.size()).isZero();
    }

    private void assertThatLookIsDueIn(Duration time) {
        clock.advance(time.minusNanos(1));
        assertThat(things.isDue(clock.nanoTime())).isFalse();
        clock.advance(Duration.ofNanos(1));
        assertThat(things.isDue(clock.nanoTime())).isTrue();
    }
}
