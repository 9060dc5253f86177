package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeySnapshot.Decision;

/**
 * A claim request and the row of its key. The store writes the request's claim only if the row has not changed since it
 * was read.
 *
 * @param row the row as it was read
 * @param decision what the request may do, given this row
 */
public record KeyWrite(ClaimRequest request, KeySnapshot row, Decision decision) {}
