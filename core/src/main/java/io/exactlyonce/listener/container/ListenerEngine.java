package io.exactlyonce.listener.container;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.SubscriptionCheck;
import io.exactlyonce.delivery.pipeline.CircuitBreakers;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.listener.startup.ListenerSummary;
import io.exactlyonce.time.EngineScheduler;

/**
 * The engine's parts that containers' components need.
 *
 * @param pipeline claims keys, and calls handlers
 * @param deliveries the deliveries in flight
 * @param breakers pause the listeners of a claim path while claims get no answer there
 * @param observer is notified of subscriptions
 * @param scheduler the clock, and tasks that run later
 * @param audit throws if a subscription's queue must not be received from
 * @param line logs a summary of a listener that starts
 * @param check starts checking whether claims can be stored, and does not wait
 * @param readiness waits until claims can be stored, however long that takes, or throws why they cannot
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
