package io.exactlyonce.test.kit;

import io.exactlyonce.Claim;

/** Takes money. Tests replace it by a mock. */
interface Till {

    record Order(String orderId, int cents) {}

    void charge(String orderId, Claim claim) throws InterruptedException;
}
