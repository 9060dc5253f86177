package io.exactlyonce.listener;

import io.exactlyonce.delivery.Deliveries;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.StoreGate;
import java.util.function.LongSupplier;

/**
 * What containers' components need of the engine.
 *
 * @param deliveries the deliveries in flight
 * @param gate closed while claims cannot be made
 * @param observer learns of subscriptions
 * @param clock monotonic, in nanoseconds
 */
public record ListenerEngine(Deliveries deliveries, StoreGate gate, DeliveryObserver observer, LongSupplier clock) {}
