package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/**
 * The life of a span: before and after each event it is compared whether a tick would look at it, and whether it needs that.
 *
 * @param random its share of the jitter
 */
public record SpanHistory(Duration length, RenewalSchedule schedule, double random, List<Event> events) {

    private static final int MOST_EVENTS = 30;

    /** Each as often as it is to be drawn. */
    private static final List<Kind> KINDS = Map.ofEntries(
                    Map.entry(Kind.TICK, 8),
                    Map.entry(Kind.BATCH, 4),
                    Map.entry(Kind.TAKEN_BY_HANDLER, 3),
                    Map.entry(Kind.SUCCEEDED, 4),
                    Map.entry(Kind.FAILED, 4),
                    Map.entry(Kind.CHOSEN, 3),
                    Map.entry(Kind.NOT_CHOSEN, 2),
                    Map.entry(Kind.LEFT_TO_ITS_END, 1),
                    Map.entry(Kind.RENEWED_AGAIN, 2),
                    Map.entry(Kind.REFUSED, 1),
                    Map.entry(Kind.STOPPED, 1))
            .entrySet()
            .stream()
            .sorted(Map.Entry.comparingByKey())
            .flatMap(kind -> Collections.nCopies(kind.getValue(), kind.getKey()).stream())
            .toList();

    /**
     * Something that happens.
     *
     * @param after how long nothing happened before
     * @param share of what a handler wants, or of the backoff
     */
    record Event(Kind kind, Duration after, double share) {}

    enum Kind {
        /** A tick that looks only if it must. */
        TICK,
        /** Something else was due: everything is looked at, and what is nearly due is renewed. */
        BATCH,
        TAKEN_BY_HANDLER,
        SUCCEEDED,
        FAILED,
        CHOSEN,
        NOT_CHOSEN,
        LEFT_TO_ITS_END,
        RENEWED_AGAIN,
        REFUSED,
        STOPPED
    }

    public static SpanHistory any(Random random) {
        RenewalSchedule schedule = new RenewalSchedule(
                random.nextInt(6) > 0, random.nextDouble(0.05, 0.9), random.nextDouble(0.5), random.nextInt(1, 5));
        List<Event> events = Stream.generate(() -> anyEvent(random))
                .limit(random.nextInt(MOST_EVENTS + 1))
                .toList();
        return new SpanHistory(Duration.ofSeconds(random.nextInt(1, 13)), schedule, random.nextDouble(), events);
    }

    private static Event anyEvent(Random random) {
        return new Event(anyOf(KINDS, random), anyTime(random), random.nextDouble());
    }

    private static Duration anyTime(Random random) {
        return switch (random.nextInt(7)) {
            case 0, 1 -> Duration.ZERO;
            case 2 -> Duration.ofSeconds(random.nextInt(1, 13));
            default -> Duration.ofMillis(random.nextInt(1, 901));
        };
    }

    private static <T> T anyOf(List<T> choices, Random random) {
        return choices.get(random.nextInt(choices.size()));
    }

    public void check() {
        new Run(this).play();
    }

    private static final class Run {

        private final SpanHistory history;
        private final FakeClock clock = new FakeClock();
        private final DueSet<RenewalState> spans = new DueSet<>(RenewalState::announce, clock.nanoTime());
        private final RenewalState span;

        private Run(SpanHistory history) {
            this.history = history;
            this.span = new RenewalState(
                    history.length(), clock.nanoTime(), history.schedule(), history.random(), spans.next());
            spans.add(span);
            spans.looked(clock.nanoTime());
        }

        private void play() {
            for (Event event : history.events()) {
                clock.advance(event.after());
                assertThatNothingIsMissed();
                happen(event);
                assertThatNothingIsMissed();
            }
        }

        private void assertThatNothingIsMissed() {
            long now = clock.nanoTime();
            if (!spans.isDue(now)) {
                assertThat(span.isDue(now)).as("due").isFalse();
                assertThat(span.loseIfInDoubt(now)).as("in doubt").isFalse();
            }
        }

        private void happen(Event event) {
            long now = clock.nanoTime();
            switch (event.kind()) {
                case TICK -> tick(now);
                case BATCH -> look(now, true);
                case TAKEN_BY_HANDLER -> span.take(now);
                case SUCCEEDED -> span.succeeded(now, history.length());
                case FAILED -> span.failed(now, event.share());
                case CHOSEN -> span.chosen(now, Duration.ofMillis((long) (event.share() * 15_000)));
                case NOT_CHOSEN -> span.notChosen();
                case LEFT_TO_ITS_END -> span.leaveToItsEnd();
                case RENEWED_AGAIN -> span.renewAgain();
                case REFUSED -> span.lost();
                case STOPPED -> span.stop();
            }
        }

        private void tick(long now) {
            if (spans.isDue(now)) {
                look(now, span.isDue(now));
            }
        }

        private void look(long now, boolean renewing) {
            boolean lost = span.loseIfInDoubt(now);
            boolean begun = !lost && renewing && span.attempt(now);
            spans.looked(now);
            assertThat(spans.isDue(now))
                    .as("looked at again and again (begun: %s)", begun)
                    .isFalse();
        }
    }
}
