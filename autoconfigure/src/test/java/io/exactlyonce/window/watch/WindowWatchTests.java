package io.exactlyonce.window.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.visibility.QueueVisibility;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import io.exactlyonce.window.WindowAdvice;
import io.exactlyonce.window.foresight.WindowWarning;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

class WindowWatchTests {

    private static final long SECOND = 1_000_000_000;

    private final QueueVisibility visibility = Mockito.mock(QueueVisibility.class);
    private final Subscription orders = subscription("orders", 30);
    private final List<WindowWarning> told = new ArrayList<>();
    private final AtomicLong now = new AtomicLong();
    private final WindowWatch watch = new WindowWatch(
            true,
            List.of(
                    (subscription, warning) -> {
                        throw new IllegalStateException("broken");
                    },
                    (subscription, warning) -> told.add(warning)),
            now::get);

    private Subscription subscription(String queue, int window) {
        return new Subscription("listener", queue, VisibilityWindow.ofSeconds(window), visibility);
    }

    private void deliver(Subscription subscription, int count, Duration elapsed) {
        for (int i = 0; i < count; i++) {
            now.addAndGet(SECOND);
            watch.delivered(subscription, elapsed);
        }
    }

    @Test
    void warningReachesEachObserverThoughOneThrows() {
        watch.subscribed(orders);
        deliver(orders, 300, Duration.ofSeconds(35));

        assertThat(told).singleElement().satisfies(warning -> {
            assertThat(warning.kind()).isEqualTo(WindowWarning.Kind.BREACHED);
            assertThat(warning.utilization()).isBetween(1.13, 1.2);
        });
    }

    @Test
    void subscribedListenerHasAWindowBeforeItsFirstDelivery() {
        watch.subscribed(orders);

        assertThat(watch.windows()).singleElement().satisfies(window -> {
            assertThat(window.subscription()).isSameAs(orders);
            assertThat(window.outlook().latencies().count()).isZero();
            assertThat(window.advice().confidence()).isEqualTo(WindowAdvice.Confidence.NONE);
        });
        assertThat(watch.window("listener", "other")).isEmpty();
    }

    @Test
    void eachQueueIsJudgedByItself() {
        Subscription parcels = subscription("parcels", 300);
        deliver(parcels, 300, Duration.ofSeconds(35));
        deliver(orders, 300, Duration.ofSeconds(10));

        assertThat(told).isEmpty();
        assertThat(watch.windows())
                .extracting(each -> each.subscription().queue())
                .containsExactly("orders", "parcels");
        assertThat(watch.window("listener", "parcels")).hasValueSatisfying(window -> {
            assertThat(window.advice().rule()).isEqualTo(WindowAdvice.Rule.RENEWED);
            assertThat(window.advice().recommended()).isBetween(Duration.ofSeconds(70), Duration.ofSeconds(72));
        });
    }

    @Test
    void windowThatWasReadAgainCountsFromThenOn() {
        watch.subscribed(orders);
        deliver(orders, 300, Duration.ofSeconds(35));
        watch.subscribed(subscription("orders", 120));
        deliver(orders, 900, Duration.ofSeconds(35));

        assertThat(told)
                .extracting(WindowWarning::kind)
                .containsExactly(WindowWarning.Kind.BREACHED, WindowWarning.Kind.RECOVERED);
        assertThat(watch.window("listener", "orders").orElseThrow().outlook().window())
                .isEqualTo(Duration.ofSeconds(120));
    }

    @Test
    void nothingIsRememberedByAnotherProcess() {
        deliver(orders, 300, Duration.ofSeconds(35));

        WindowWatch next = new WindowWatch(true, List.of(), now::get);
        next.subscribed(orders);

        assertThat(next.windows().get(0).outlook().latencies().count()).isZero();
    }
}
