package io.exactlyonce.renewal;

import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.renewal.RenewalObserver.Target;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.QueueVisibility;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.Subscription;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Renews the windows that are due, queue by queue. */
final class WindowRenewer {

    private static final Logger log = LoggerFactory.getLogger(WindowRenewer.class);

    private final RenewalObserver observer;
    private final NanoClock clock;
    private final Jitter random;

    WindowRenewer(RenewalObserver observer, NanoClock clock, Jitter random) {
        this.observer = observer;
        this.clock = clock;
        this.random = random;
    }

    private record Due(RenewedWindow window, Change change) {}

    /** Renews what is due, if anything is, and with it what is nearly due. */
    void renewDue(Collection<RenewedWindow> windows, long now) {
        if (windows.stream().anyMatch(window -> window.isDue(now))) {
            renew(windows, now);
        }
    }

    private void renew(Collection<RenewedWindow> windows, long now) {
        Map<QueueVisibility, List<Due>> byQueue = new HashMap<>();
        for (RenewedWindow window : windows) {
            RenewedWindow.Attempt attempt = window.attempt(now);
            tell(window, attempt.result());
            attempt.change()
                    .ifPresent(change -> byQueue.computeIfAbsent(
                                    window.subscription().visibility(), queue -> new ArrayList<>())
                            .add(new Due(window, change)));
        }
        byQueue.forEach(this::send);
    }

    void loseInDoubt(Collection<RenewedWindow> windows, long now) {
        for (RenewedWindow window : windows) {
            if (window.loseIfInDoubt(now)) {
                tell(window, Result.LOST);
            }
        }
    }

    private void send(QueueVisibility queue, List<Due> due) {
        long begun = clock.nanoTime();
        List<Change> changes = due.stream().map(Due::change).toList();
        var unused = change(queue, changes).whenComplete((answers, failure) -> {
            for (Due each : due) {
                RenewedWindow window = each.window();
                QueueVisibility.Result answer = failure == null
                        ? answers.getOrDefault(window.receiptHandle(), QueueVisibility.Result.FAILED)
                        : QueueVisibility.Result.FAILED;
                tell(window, window.answered(answer, begun, random.next()));
            }
        });
    }

    /** Shields the other queues from one that breaks its contract. */
    private static CompletableFuture<Map<String, QueueVisibility.Result>> change(
            QueueVisibility queue, List<Change> changes) {
        try {
            return queue.change(changes);
        } catch (RuntimeException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private void tell(RenewedWindow window, @Nullable Result result) {
        if (result == null) {
            return;
        }
        Subscription subscription = window.subscription();
        switch (result) {
            case SUCCEEDED -> log.trace("Renewed a visibility window of {}", subscription);
            case FAILED -> log.warn("Renewing a visibility window of {} failed and will be retried", subscription);
            case LOST ->
                log.warn(
                        "A visibility window of {} is lost: the message may be delivered again; its claim protects it",
                        subscription);
        }
        observer.renewed(subscription, Target.WINDOW, result);
    }
}
