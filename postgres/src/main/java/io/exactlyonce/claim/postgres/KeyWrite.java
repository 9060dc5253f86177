package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeySnapshot.Decision;

/**
 * A request that is written if its key's row has not changed since it was read.
 *
 * @param row the row as it was read
 * @param decision the decision that follows from the row
 */
public record KeyWrite(ClaimRequest request, KeySnapshot row, Decision decision) {}
