package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.renewal.RenewalObserver.Target;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class CompositeDeliveryObserverTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "o1");

    private final List<String> told = new ArrayList<>();
    private final Subscription orders = DeliveryRig.subscription("orders", new ScriptedQueue());
    private final Delivery delivery = new Delivery(orders, "m", "r", 1, 0);
    private final CompositeDeliveryObserver observers =
            new CompositeDeliveryObserver(List.of(new Broken(), new Recording(told)));

    @Test
    void otherObserversAreToldAlthoughOneThrows() {
        observers.subscribed(orders);
        observers.received(orders, 2, Duration.ofSeconds(4));
        observers.inFlight(orders, -1);
        observers
                .claiming(List.of(new DeliveryObserver.ClaimCall(delivery, KEY)))
                .end(List.of(new Parked()), null);
        observers.claimed(orders, KEY, new Parked());
        observers.claimLost(orders, KEY);
        observers.parked(orders, KEY);
        observers.handled(orders, Duration.ofSeconds(1));
        observers.delivered(orders, Duration.ofSeconds(2));
        observers.settled(delivery, DeliveryState.ABANDONED);
        observers.acknowledged(delivery);
        observers.renewed(orders, Target.LEASE, Result.LOST);
        observers.timedOut(orders);
        observers.paused(Duration.ofSeconds(3));
        observers.completionLost(orders);
        observers.completing(orders, 2);
        observers.waiting(orders, 3);
        observers.receivesRunOut(orders);
        observers.pollingPaused(orders, "claims", true);
        observers.unsubscribed(orders);

        assertThat(told)
                .containsExactly(
                        "subscribed orders",
                        "received orders 2 PT4S",
                        "in flight orders -1",
                        "claiming m",
                        "answered [Parked[]]",
                        "claimed orders Parked[]",
                        "lost orders/" + KEY.shortHash(),
                        "parked orders/" + KEY.shortHash(),
                        "handled orders PT1S",
                        "delivered orders PT2S",
                        "settled orders ABANDONED",
                        "acknowledged orders",
                        "renewed orders LEASE LOST",
                        "timed out orders",
                        "paused PT3S",
                        "completion lost orders",
                        "completing orders 2",
                        "waiting orders 3",
                        "receives run out orders",
                        "paused orders true",
                        "unsubscribed orders");
    }

    @Test
    void failuresAreCountedAndLoggedWithTheirCause(CapturedOutput output) {
        assertThat(observers.failures()).isZero();

        observers.subscribed(orders);
        observers.renewed(orders, Target.LEASE, Result.LOST);

        assertThat(observers.failures()).isEqualTo(2);
        assertThat(output).contains(Broken.class.getName()).contains("broken observer");
    }

    @Test
    void scopesOfHandlersAreLeftInTheOppositeOrderWhateverOneThrows() {
        DeliveryObserver broken = new DeliveryObserver() {
            @Override
            public HandlerScope handling(List<HandlerCall> calls) {
                throw new IllegalStateException("broken observer");
            }
        };
        CompositeDeliveryObserver others =
                new CompositeDeliveryObserver(List.of(new Scoping(told, "first"), broken, new Scoping(told, "second")));

        DeliveryObserver.HandlerScope scope = others.handling(List.of());
        scope.leave();
        scope.end(null);

        assertThat(told)
                .containsExactly(
                        "enter first", "enter second", "leave second", "leave first", "end second", "end first");
        assertThat(others.failures()).isEqualTo(3);
        assertThat(new CompositeDeliveryObserver(List.of(broken)).handling(List.of()))
                .isSameAs(DeliveryObserver.HandlerScope.NONE);
    }

    private record Scoping(List<String> told, String name) implements DeliveryObserver {

        @Override
        public HandlerScope handling(List<HandlerCall> calls) {
            told.add("enter " + name);
            return new HandlerScope() {
                @Override
                public void leave() {
                    told.add("leave " + name);
                    if (name.equals("second")) {
                        throw new IllegalStateException("broken scope");
                    }
                }

                @Override
                public void end(@Nullable Throwable failure) {
                    told.add("end " + name);
                    if (name.equals("second")) {
                        throw new IllegalStateException("broken scope");
                    }
                }
            };
        }
    }

    @ParameterizedTest
    @MethodSource
    void whateverAnObserverThrowsReachesNoOtherObserver(Throwable thrown) {
        CompositeDeliveryObserver others =
                new CompositeDeliveryObserver(List.of(new Throwing(thrown), new Recording(told)));

        others.claimed(orders, KEY, new Parked());

        assertThat(told).containsExactly("claimed orders Parked[]");
        assertThat(others.failures()).isOne();
    }

    static Stream<Throwable> whateverAnObserverThrowsReachesNoOtherObserver() {
        return Stream.of(
                new IllegalStateException("broken observer"),
                new NoClassDefFoundError("a registry of another version"),
                new AssertionError("an assertion"),
                new StackOverflowError(),
                new OutOfMemoryError("simulated"),
                new Exception("a checked one, as Kotlin throws it"));
    }

    private record Throwing(Throwable thrown) implements DeliveryObserver {

        @Override
        public void claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) {
            Throwing.<RuntimeException>sneak(thrown);
        }

        @SuppressWarnings("unchecked")
        private static <X extends Throwable> void sneak(Throwable thrown) throws X {
            throw (X) thrown;
        }
    }

    private static final class Broken implements DeliveryObserver {

        @Override
        public ClaimScope claiming(List<ClaimCall> calls) {
            return (outcomes, failure) -> fail();
        }

        @Override
        public void claimLost(Subscription subscription, ClaimKey key) {
            fail();
        }

        @Override
        public void parked(Subscription subscription, ClaimKey key) {
            fail();
        }

        @Override
        public void subscribed(Subscription subscription) {
            fail();
        }

        @Override
        public void unsubscribed(Subscription subscription) {
            fail();
        }

        @Override
        public void received(Subscription subscription, int receiveCount, @Nullable Duration age) {
            fail();
        }

        @Override
        public void inFlight(Subscription subscription, int change) {
            fail();
        }

        @Override
        public void settled(Delivery delivery, DeliveryState state) {
            fail();
        }

        @Override
        public void acknowledged(Delivery delivery) {
            fail();
        }

        @Override
        public void claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) {
            fail();
        }

        @Override
        public void handled(Subscription subscription, Duration elapsed) {
            fail();
        }

        @Override
        public void delivered(Subscription subscription, Duration elapsed) {
            fail();
        }

        @Override
        public void renewed(Subscription subscription, Target target, Result result) {
            fail();
        }

        @Override
        public void timedOut(Subscription subscription) {
            fail();
        }

        @Override
        public void completionLost(Subscription subscription) {
            fail();
        }

        @Override
        public void completing(Subscription subscription, int deliveries) {
            fail();
        }

        @Override
        public void waiting(Subscription subscription, int deliveries) {
            fail();
        }

        @Override
        public void paused(Duration length) {
            fail();
        }

        @Override
        public void receivesRunOut(Subscription subscription) {
            fail();
        }

        @Override
        public void pollingPaused(Subscription subscription, String way, boolean paused) {
            fail();
        }

        private static void fail() {
            throw new IllegalStateException("broken observer");
        }
    }

    private record Recording(List<String> told) implements DeliveryObserver {

        @Override
        public ClaimScope claiming(List<ClaimCall> calls) {
            told.add("claiming " + calls.get(0).delivery().messageId());
            return (outcomes, failure) -> told.add("answered " + outcomes);
        }

        @Override
        public void claimLost(Subscription subscription, ClaimKey key) {
            told.add("lost " + key);
        }

        @Override
        public void parked(Subscription subscription, ClaimKey key) {
            told.add("parked " + key);
        }

        @Override
        public void subscribed(Subscription subscription) {
            told.add("subscribed " + subscription.queue());
        }

        @Override
        public void unsubscribed(Subscription subscription) {
            told.add("unsubscribed " + subscription.queue());
        }

        @Override
        public void received(Subscription subscription, int receiveCount, @Nullable Duration age) {
            told.add("received " + subscription.queue() + " " + receiveCount + " " + age);
        }

        @Override
        public void inFlight(Subscription subscription, int change) {
            told.add("in flight " + subscription.queue() + " " + change);
        }

        @Override
        public void settled(Delivery delivery, DeliveryState state) {
            told.add("settled " + delivery.subscription().queue() + " " + state);
        }

        @Override
        public void acknowledged(Delivery delivery) {
            told.add("acknowledged " + delivery.subscription().queue());
        }

        @Override
        public void claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) {
            told.add("claimed " + subscription.queue() + " " + outcome);
        }

        @Override
        public void handled(Subscription subscription, Duration elapsed) {
            told.add("handled " + subscription.queue() + " " + elapsed);
        }

        @Override
        public void delivered(Subscription subscription, Duration elapsed) {
            told.add("delivered " + subscription.queue() + " " + elapsed);
        }

        @Override
        public void renewed(Subscription subscription, Target target, Result result) {
            told.add("renewed " + subscription.queue() + " " + target + " " + result);
        }

        @Override
        public void timedOut(Subscription subscription) {
            told.add("timed out " + subscription.queue());
        }

        @Override
        public void paused(Duration length) {
            told.add("paused " + length);
        }

        @Override
        public void completionLost(Subscription subscription) {
            told.add("completion lost " + subscription.queue());
        }

        @Override
        public void completing(Subscription subscription, int deliveries) {
            told.add("completing " + subscription.queue() + " " + deliveries);
        }

        @Override
        public void waiting(Subscription subscription, int deliveries) {
            told.add("waiting " + subscription.queue() + " " + deliveries);
        }

        @Override
        public void receivesRunOut(Subscription subscription) {
            told.add("receives run out " + subscription.queue());
        }

        @Override
        public void pollingPaused(Subscription subscription, String way, boolean paused) {
            told.add("paused " + subscription.queue() + " " + paused);
        }
    }
}
