package io.exactlyonce.sample.http;

/** Charges cards. */
interface PaymentProvider {

    /**
     * Charges a card.
     *
     * @param idempotencyKey the key, which is the same for all attempts at one charge
     * @return the charge's id
     */
    String charge(PaymentRequest request, String idempotencyKey);
}
