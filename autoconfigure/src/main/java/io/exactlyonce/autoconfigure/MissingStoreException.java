package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceSetupException;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties.Store;
import java.util.Locale;

/** Claims are to be kept by a store whose module is not there. */
final class MissingStoreException extends ExactlyOnceSetupException {

    MissingStoreException(Store store) {
        super(
                "exactly-once.claim.store is %s, and its module is not on the class path".formatted(name(store)),
                "add io.exactlyonce:exactly-once-%s, or remove the property to keep claims in PostgreSQL"
                        .formatted(name(store)),
                null);
    }

    private static String name(Store store) {
        return store.name().toLowerCase(Locale.ROOT);
    }
}
