package io.exactlyonce.listener.container;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.SubscriptionCheck;
import io.exactlyonce.delivery.pipeline.CircuitBreakers;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.listener.startup.ListenerSummary;
import io.exactlyonce.time.EngineScheduler;

/**
 * The parts of the engine that the components of containers need.
 *
 * @param pipeline claims keys, and calls handlers
 * @param deliveries the deliveries in flight
 * @param breakers pause the listeners of a claim path while claims on this path get no answer
 * @param observer is notified of subscriptions
 * @param scheduler the clock, and tasks that run later
 * @param audit throws if a subscription must not receive from its queue
 * @param line logs a summary of a listener that starts
 * @param check starts to check whether claims can be stored, and returns at once
 * @param readiness waits until claims can be stored, however long that takes, or throws the reason why they cannot be
 *     stored
 */
public record ListenerEngine(
        DeliveryPipeline pipeline,
        Deliveries deliveries,
        CircuitBreakers breakers,
        DeliveryObserver observer,
        EngineScheduler scheduler,
        SubscriptionCheck audit,
        ListenerSummary line,
        Runnable check,
        Runnable readiness) {}
