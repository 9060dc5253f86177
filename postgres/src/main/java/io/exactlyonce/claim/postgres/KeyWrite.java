package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeySnapshot.Decision;

/**
 * A request with the row of its key. The request is written only if nobody has changed the row since it was read.
 *
 * @param row the row as it was read
 * @param decision what the request may do, given this row
 */
public record KeyWrite(ClaimRequest request, KeySnapshot row, Decision decision) {}
