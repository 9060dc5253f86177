package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.Mockito;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
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

    private Subscription subscription(String queue, int timeoutSeconds) {
        return new Subscription("listener", queue, VisibilityWindow.ofSeconds(timeoutSeconds), visibility);
    }

    private void deliver(Subscription subscription, int count, Duration elapsed) {
        for (int i = 0; i < count; i++) {
            now.addAndGet(SECOND);
            watch.on(new DeliveryEvent.Delivered(
                    subscription, subscription.settings().window(), elapsed));
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
    void eachChangeIsOneLine(CapturedOutput output) {
        deliver(orders, 600, Duration.ofSeconds(10));
        deliver(orders, 600, Duration.ofSeconds(25));
        deliver(orders, 600, Duration.ofSeconds(35));
        deliver(orders, 600, Duration.ofSeconds(10));

        assertThat(output.toString().lines().filter(line -> line.contains("their visibility timeout")))
                .satisfiesExactly(
                        near -> assertThat(near)
                                .contains("WARN")
                                .containsPattern(
                                        "orders.*: deliveries come near their visibility timeout: p95 of recent"
                                                + " deliveries is 25\\.\\d s, 8\\d % of the visibility timeout of 30 s; renewal keeps"),
                        breached -> assertThat(breached)
                                .contains("WARN", "deliveries outlast their visibility timeout: p95"),
                        recovered -> assertThat(recovered)
                                .contains("INFO", "deliveries are well within their visibility timeout again: p95"));
    }

    @Test
    void subscribedListenerHasAWindowBeforeItsFirstDelivery() {
        watch.subscribed(orders);

        assertThat(watch.windows()).singleElement().satisfies(window -> {
            assertThat(window.subscription()).isSameAs(orders);
            assertThat(window.latencies().count()).isZero();
            assertThat(window.advice().confidence()).isEqualTo(WindowAdvice.Confidence.NONE);
        });
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
        WindowAdvice advice = watch.window(parcels).advice();
        assertThat(advice.rule()).isEqualTo(WindowAdvice.Rule.RENEWED);
        assertThat(advice.recommended()).isBetween(Duration.ofSeconds(70), Duration.ofSeconds(72));
    }

    @Test
    void visibilityTimeoutThatWasReadAgainCountsFromThenOn() {
        watch.subscribed(orders);
        deliver(orders, 300, Duration.ofSeconds(35));
        orders.change(new QueueSettings(VisibilityWindow.ofSeconds(120), null));
        deliver(orders, 900, Duration.ofSeconds(35));

        assertThat(told)
                .extracting(WindowWarning::kind)
                .containsExactly(WindowWarning.Kind.BREACHED, WindowWarning.Kind.RECOVERED);
        assertThat(watch.window(orders).length()).isEqualTo(Duration.ofSeconds(120));
    }
}
