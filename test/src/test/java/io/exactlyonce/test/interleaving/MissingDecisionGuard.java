package io.exactlyonce.test.interleaving;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.test.InMemoryClaimStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** The counterpart of {@link MissingGuard} for operators' decisions and for lookups. */
enum MissingDecisionGuard {
    RELEASE_ASKS_FOR_THE_PARKED_CLAIM {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public boolean release(ClaimId claim) {
                    return super.release(parkedOf(intact, claim));
                }
            };
        }
    },
    COMPLETION_ASKS_FOR_THE_PARKED_CLAIM {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public boolean complete(ClaimResolution.Completed completion) {
                    return super.complete(
                            new ClaimResolution.Completed(parkedOf(intact, completion.claim()), completion.result()));
                }
            };
        }
    },
    DECISION_ASKS_WHETHER_THE_CLAIM_IS_PARKED {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public boolean release(ClaimId claim) {
                    return super.release(claim)
                            || !super.release(List.of(new ClaimResolution.Released(claim, "", false)))
                                    .isEmpty();
                }

                @Override
                public boolean complete(ClaimResolution.Completed completion) {
                    return super.complete(completion)
                            || !super.complete(List.of(completion)).isEmpty();
                }
            };
        }
    },
    RELEASE_IS_RECORDED {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public boolean release(ClaimId claim) {
                    return claim.equals(parkedOf(intact, claim))
                            && find(claim.key()).isPresent();
                }
            };
        }
    },
    RELEASE_CLEARS_THE_DOUBT {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new DecisionWatch(intact) {
                @Override
                ClaimOutcome claimReleased(ClaimRequest request) {
                    ClaimOutcome outcome = intact.claim(List.of(request)).get(0);
                    if (outcome instanceof Acquired acquired
                            && acquired.inDoubt()
                            && request.inDoubt() == InDoubt.PARK) {
                        park(List.of(new ClaimResolution.Parked(request.id(), "", true)));
                        return new ClaimOutcome.Parked();
                    }
                    return outcome;
                }
            };
        }
    },
    RELEASE_CLEARS_ONE_ATTEMPT_ONLY {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new DecisionWatch(intact) {
                @Override
                ClaimOutcome claimReleased(ClaimRequest request) {
                    ClaimRequest bold = new ClaimRequest(
                            new ClaimId(request.key(), request.claimId()),
                            request.owner(),
                            request.lease(),
                            InDoubt.TAKE_OVER,
                            request.fingerprint());
                    return intact.claim(List.of(bold)).get(0);
                }
            };
        }
    },
    RELEASE_BEGINS_TO_COUNT_ANEW {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new DecisionWatch(intact) {
                @Override
                ClaimOutcome claimReleased(ClaimRequest request) {
                    ClaimOutcome outcome = intact.claim(List.of(request)).get(0);
                    return outcome instanceof Acquired acquired
                            ? new Acquired(
                                    acquired.attempt(),
                                    acquired.fencingToken(),
                                    acquired.inDoubt(),
                                    acquired.failures() + 1)
                            : outcome;
                }
            };
        }
    },
    PARKING_KEEPS_THE_DOUBT {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public Set<ClaimId> park(List<ClaimResolution.Parked> parkings) {
                    return super.park(parkings.stream()
                            .map(each -> new ClaimResolution.Parked(each.claim(), each.reason(), false, each.threw()))
                            .toList());
                }
            };
        }
    },
    PARKED_KEY_IS_FOUND {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new WrappedStore(intact) {
                @Override
                public Optional<ParkedClaim> find(ClaimKey key) {
                    return super.find(key).filter(ParkedClaim::isInDoubt);
                }
            };
        }
    },
    LOOK_HEEDS_THE_LEASE {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return seeing(intact, told -> told.equals(KeyState.HELD) ? KeyState.FREE : told);
        }
    },
    LOOK_TELLS_WHAT_IS_FREE {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return seeing(intact, told -> told.equals(KeyState.FREE) ? KeyState.HELD : told);
        }
    },
    LOOK_TELLS_PARKED_FROM_COMPLETED {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return seeing(intact, told -> told.equals(KeyState.PARKED) ? KeyState.completed(null) : told);
        }
    },
    LOOK_TELLS_THE_PAYLOAD {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return seeing(intact, told -> new KeyState(told.status(), null));
        }
    },
    LOOK_CLAIMS_NOTHING {
        @Override
        WrappedStore remove(InMemoryClaimStore intact) {
            return new HolderWatch(intact) {
                @Override
                public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
                    Map<ClaimKey, KeyState> told = super.peek(keys);
                    super.release(keys.stream()
                            .flatMap(key -> holder(key).stream())
                            .map(holder -> new ClaimResolution.Released(holder, "", false))
                            .toList());
                    return told;
                }
            };
        }
    };

    /** Returns a store that lacks this guard. */
    abstract WrappedStore remove(InMemoryClaimStore intact);

    /** Records the keys that an operator has released at any time. */
    private abstract static class DecisionWatch extends WrappedStore {

        private final Set<ClaimKey> released = new HashSet<>();

        DecisionWatch(InMemoryClaimStore intact) {
            super(intact);
        }

        abstract ClaimOutcome claimReleased(ClaimRequest request);

        @Override
        public boolean release(ClaimId claim) {
            boolean told = super.release(claim);
            if (told) {
                released.add(claim.key());
            }
            return told;
        }

        @Override
        public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
            List<ClaimOutcome> outcomes = new ArrayList<>();
            for (ClaimRequest request : requests) {
                outcomes.add(
                        released.contains(request.key())
                                ? claimReleased(request)
                                : super.claim(List.of(request)).get(0));
            }
            return outcomes;
        }
    }

    private static ClaimId parkedOf(InMemoryClaimStore store, ClaimId claim) {
        return store.find(claim.key())
                .map(parked -> new ClaimId(claim.key(), parked.claimId()))
                .orElse(claim);
    }

    private static WrappedStore seeing(InMemoryClaimStore intact, UnaryOperator<KeyState> change) {
        return new WrappedStore(intact) {
            @Override
            public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
                return super.peek(keys).entrySet().stream()
                        .collect(Collectors.toMap(Map.Entry::getKey, each -> change.apply(each.getValue())));
            }
        };
    }
}
