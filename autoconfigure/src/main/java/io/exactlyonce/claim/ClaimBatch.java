package io.exactlyonce.claim;

import java.util.List;

/**
 * What many callers want of a store at the same time: ends of claims, and new claims.
 *
 * @param completions good ends
 * @param releases claims given up
 * @param parkings claims set aside
 * @param claims requests to hold a key
 */
public record ClaimBatch(
        List<Completion> completions, List<Release> releases, List<Parking> parkings, List<ClaimRequest> claims) {

    public ClaimBatch {
        completions = List.copyOf(completions);
        releases = List.copyOf(releases);
        parkings = List.copyOf(parkings);
        claims = List.copyOf(claims);
    }
}
