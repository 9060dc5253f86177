package io.exactlyonce.claim;

import java.util.List;

/**
 * What many callers want of a store at the same time: ends of claims, and new claims.
 *
 * @param ends of claims that were made before, none of them ended in two ways
 * @param claims requests to hold a key
 */
public record ClaimBatch(List<ClaimEnd> ends, List<ClaimRequest> claims) {

    public ClaimBatch {
        ends = List.copyOf(ends);
        claims = List.copyOf(claims);
    }
}
