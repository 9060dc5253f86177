package io.exactlyonce.listener.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.QueueVisibility.Answers;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.QueueVisibility.Result;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.Renewer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;

/** Tests handlers and error handlers that change the visibility of all messages of a batch. */
class RenewingVisibilityTests {

    private final FakeClock clock = new FakeClock();

    private final Renewer renewer = ListenerRig.renewer(new ScriptedStore(), clock);
    private final Deliveries deliveries = ListenerRig.deliveries(renewer, Duration.ofSeconds(8), clock);
    private final List<List<Change>> requests = new ArrayList<>();

    private final Subscription orders =
            new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), changes -> {
                requests.add(changes);
                return CompletableFuture.completedFuture(new Answers(changes.stream()
                        .collect(Collectors.toMap(
                                Change::receiptHandle,
                                change ->
                                        change.receiptHandle().equals("refused") ? Result.REFUSED : Result.CHANGED))));
            });

    private Message<?> receive(String handle) {
        Delivery delivery = new Delivery(orders, orders.settings(), handle, handle, 1, clock.nanoTime());
        deliveries.begin(List.of(delivery));
        return ListenerRig.attach(ListenerRig.received(delivery, null, "body"), ListenerRig.anyMessage());
    }

    /** Trap: each message of a batch needed a separate request. */
    @Test
    void visibilityOfABatchIsChangedTogether() {
        CompletableFuture<Void> changed = RenewingVisibility.ofAll(List.of(receive("m1"), receive("m2"), receive("m3")))
                .changeToAsync(60);

        assertThat(changed).isCompleted();
        assertThat(requests).containsExactly(List.of(new Change("m1", 60), new Change("m2", 60), new Change("m3", 60)));
    }

    @Test
    void messageThatTheQueueRefusesFailsNoOthersChange() {
        CompletableFuture<Void> changed = RenewingVisibility.ofAll(List.of(receive("m1"), receive("refused")))
                .changeToAsync(60);

        assertThat(changed).isCompletedExceptionally();
        requests.clear();
        clock.advance(Duration.ofSeconds(20));
        renewer.tick();
        assertThat(requests).as("the longer one is not cut short").containsExactly(List.of(new Change("refused", 30)));
    }
}
