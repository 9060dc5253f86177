package io.exactlyonce.renewal;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.renewal.RenewalObserver.Target;
import io.exactlyonce.renewal.RenewalState.Look;
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
import java.util.Optional;
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

    /** Counts as lost the windows that end in doubt; returns whether a renewal is due. */
    boolean look(Collection<RenewedWindow> windows, long now) {
        boolean anyDue = false;
        for (RenewedWindow window : windows) {
            Look found = window.look(now);
            anyDue |= found == Look.DUE;
            if (found == Look.LOST) {
                tell(window, Result.LOST);
            }
        }
        return anyDue;
    }

    /** Renews what is due, and with it what is nearly due. */
    void renew(Collection<RenewedWindow> windows, long now) {
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

    private void send(QueueVisibility queue, List<Due> due) {
        long askedAt = clock.nanoTime();
        List<Change> changes = due.stream().map(Due::change).toList();
        var unused = queue.change(changes)
                .whenComplete((answers, failure) -> Boundary.guard(
                        "A renewal of windows", () -> answered(due, failure == null ? answers : Map.of(), askedAt)));
    }

    private void answered(List<Due> due, Map<String, QueueVisibility.Result> answers, long askedAt) {
        for (Due each : due) {
            RenewedWindow window = each.window();
            QueueVisibility.Result answer = answers.getOrDefault(window.receiptHandle(), QueueVisibility.Result.FAILED);
            tell(window, window.answered(answer, askedAt, random.next()));
        }
    }

    private void tell(RenewedWindow window, Optional<Result> ended) {
        ended.ifPresent(result -> tell(window, result));
    }

    private void tell(RenewedWindow window, Result result) {
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
