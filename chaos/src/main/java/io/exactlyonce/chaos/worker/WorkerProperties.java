package io.exactlyonce.chaos.worker;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The addresses of the harness.
 *
 * @param name Name of this JVM, unique in the run.
 * @param partner Address of the payment partner.
 * @param recorder Port of the recorder.
 * @param points Port for reports of points at which this JVM may be killed.
 * @param replica Port of the wire to the replica.
 */
@ConfigurationProperties("chaos")
record WorkerProperties(String name, String partner, int recorder, int points, int replica) {}
