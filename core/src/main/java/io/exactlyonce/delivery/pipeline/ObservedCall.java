package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver.HandlerScope;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Notifies observers of a handler's call: when the method begins, when it returns, and later when the work ends. */
final class ObservedCall {

    private final List<Delivery> called;
    private final DeliveryObserver observer;
    private final NanoClock clock;
    private final HandlerScope scope;
    private final long startedAt;

    private ObservedCall(List<Delivery> called, DeliveryObserver observer, NanoClock clock) {
        this.called = called;
        this.observer = observer;
        this.clock = clock;
        this.scope = observer.handling(called);
        this.startedAt = clock.nanoTime();
    }

    static ObservedCall begin(List<Delivery> called, DeliveryObserver observer, NanoClock clock) {
        return new ObservedCall(called, observer, clock);
    }

    /** Called when the handler's method has returned or thrown. */
    void leave() {
        scope.leave();
    }

    /** Called when the handler's work has ended. */
    void end(@Nullable Throwable failure) {
        scope.end(failure);
        observer.on(new DeliveryEvent.Handled(
                called.get(0).subscription(), Duration.ofNanos(clock.nanoTime() - startedAt)));
    }
}
