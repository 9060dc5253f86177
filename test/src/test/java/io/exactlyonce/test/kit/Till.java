package io.exactlyonce.test.kit;

import io.exactlyonce.Claim;

/** A till that takes money. Tests replace the till with a mock. */
interface Till {

    record Order(String orderId, int cents) {}

    void charge(String orderId, Claim claim) throws InterruptedException;
}
