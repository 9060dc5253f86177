package io.exactlyonce.listener.container;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.SubscriptionCheck;
import io.exactlyonce.delivery.pipeline.CircuitBreakers;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.time.Timer;

/**
 * What containers' components need of the engine.
 *
 * @param pipeline claims keys, and calls handlers
 * @param deliveries the deliveries in flight
 * @param breakers each pauses the listeners that claim on its way while claims get no answer there
 * @param observer learns of subscriptions
 * @param clock monotonic, in nanoseconds
 * @param timer runs what is due later
 * @param audit throws if a subscription's queue is not to be received from
 * @param line tells what a listener that starts will do
 * @param check begins to find out whether claims are kept, and does not wait
 * @param readiness returns when claims are known to be kept, however long that takes, or throws why they cannot be
 */
public record ListenerEngine(
        DeliveryPipeline pipeline,
        Deliveries deliveries,
        CircuitBreakers breakers,
        DeliveryObserver observer,
        NanoClock clock,
        Timer timer,
        SubscriptionCheck audit,
        ListenerSummary line,
        Runnable check,
        Runnable readiness) {}
