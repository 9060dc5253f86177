package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeySnapshot.Decision;

/**
 * A request that can be written if its key's row is unchanged.
 *
 * @param row the row as it was read
 * @param decision the decision on the request, from that row
 */
public record KeyWrite(ClaimRequest request, KeySnapshot row, Decision decision) {}
