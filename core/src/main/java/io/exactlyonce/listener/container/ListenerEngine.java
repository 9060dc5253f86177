package io.exactlyonce.listener.container;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.SubscriptionCheck;
import io.exactlyonce.delivery.pipeline.CircuitBreakers;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.listener.startup.ListenerSummary;
import io.exactlyonce.time.EngineScheduler;

/**
 * Services of this library that containers use.
 *
 * @param pipeline claims keys, and calls handlers
 * @param deliveries the deliveries in flight
 * @param breakers pause listeners while the claim store does not answer
 * @param observer is notified of received messages, of changed queue settings, and of listeners that start or stop
 * @param scheduler tells the time, and runs tasks later
 * @param audit checks the queue of a listener that starts, and throws if the listener must not receive from it
 * @param line logs a summary of a listener that starts
 * @param check begins to check whether claims can be stored, but does not wait for the result
 * @param readiness waits until claims can be stored, without a time limit. Throws if they can never be stored
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
