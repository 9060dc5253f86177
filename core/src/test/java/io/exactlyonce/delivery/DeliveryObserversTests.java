package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalEvent;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.renewal.RenewalEvent.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(OutputCaptureExtension.class)
class DeliveryObserversTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "o1");

    private final List<Object> told = new ArrayList<>();
    private final Subscription orders = DeliveryRig.subscription("orders", new ScriptedQueue(), PollGate.OPEN);
    private final Delivery delivery = new Delivery(orders, orders.settings(), "m", "r", 1, 0);

    /** Records each event, and then throws the exception of the test. */
    private final class Observer implements DeliveryObserver {

        private final String name;
        private final @Nullable Throwable thrown;

        Observer(String name, @Nullable Throwable thrown) {
            this.name = name;
            this.thrown = thrown;
        }

        private void note(String what) {
            told.add(name + ": " + what);
            if (thrown != null) {
                throw DeliveryRig.<RuntimeException>sneaked(thrown);
            }
        }

        @Override
        public void subscribed(Subscription subscription) {
            note("subscribed");
        }

        @Override
        public void changed(Subscription subscription) {
            note("changed");
        }

        @Override
        public void unsubscribed(Subscription subscription) {
            note("unsubscribed");
        }

        @Override
        public void on(DeliveryEvent event) {
            note(event.getClass().getSimpleName());
        }

        @Override
        public void on(RenewalEvent event) {
            note(event.getClass().getSimpleName());
        }

        @Override
        public ClaimScope claiming(List<Delivery> deliveries) {
            return (outcomes, failure) -> note("answered " + outcomes);
        }

        @Override
        public HandlerScope handling(List<Delivery> deliveries) {
            told.add(name + ": entered");
            return new HandlerScope() {
                @Override
                public void leave() {
                    note("left");
                }

                @Override
                public void end(@Nullable Throwable failure) {
                    note("ended");
                }
            };
        }
    }

    static Stream<Throwable> whateverAnObserverThrowsReachesNoOtherObserver() {
        return Stream.of(
                new IllegalStateException("broken observer"),
                new NoClassDefFoundError("a registry of another version"));
    }

    @ParameterizedTest
    @MethodSource
    void whateverAnObserverThrowsReachesNoOtherObserver(Throwable thrown, CapturedOutput output) {
        DeliveryObservers observers =
                new DeliveryObservers(List.of(new Observer("broken", thrown), new Observer("other", null)));

        observers.subscribed(orders);
        observers.claiming(List.of(delivery)).end(List.of(new Parked()), null);
        observers.on(new DeliveryEvent.Claimed(orders, KEY, new Parked()));
        observers.on(new RenewalEvent.ClaimLost(orders, KEY));
        observers.changed(orders);
        observers.unsubscribed(orders);

        assertThat(told)
                .containsExactly(
                        "broken: subscribed",
                        "other: subscribed",
                        "broken: answered [Parked[]]",
                        "other: answered [Parked[]]",
                        "broken: Claimed",
                        "other: Claimed",
                        "broken: ClaimLost",
                        "other: ClaimLost",
                        "broken: changed",
                        "other: changed",
                        "broken: unsubscribed",
                        "other: unsubscribed");
        assertThat(observers.failures()).isEqualTo(6);
        assertThat(output).contains(Observer.class.getName(), "failed; the delivery continues");
    }

    @Test
    void scopesOfHandlersAreLeftInTheOppositeOrderWhateverOneThrows() {
        DeliveryObservers observers = new DeliveryObservers(List.of(
                new Observer("first", null),
                new Observer("second", new IllegalStateException("broken scope")),
                new DeliveryObserver() {
                    @Override
                    public HandlerScope handling(List<Delivery> deliveries) {
                        throw new IllegalStateException("broken observer");
                    }
                }));

        DeliveryObserver.HandlerScope scope = observers.handling(List.of());
        scope.leave();
        scope.end(null);

        assertThat(told)
                .containsExactly(
                        "first: entered",
                        "second: entered",
                        "second: left",
                        "first: left",
                        "second: ended",
                        "first: ended");
        assertThat(observers.failures()).isEqualTo(3);
    }

    @Test
    void renewalsAreEventsToo() {
        DeliveryObservers observers = new DeliveryObservers(List.of(new Observer("it", null)));

        observers.on(new RenewalEvent.Renewed(orders, Target.LEASE, Result.LOST));
        observers.on(new RenewalEvent.ClaimLost(orders, KEY));
        observers.on(new RenewalEvent.TimedOut(orders, KEY));
        observers.on(new RenewalEvent.Paused(Duration.ofSeconds(3)));

        assertThat(told).containsExactly("it: Renewed", "it: ClaimLost", "it: TimedOut", "it: Paused");
    }
}
