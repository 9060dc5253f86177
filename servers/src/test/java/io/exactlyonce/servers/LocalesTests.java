package io.exactlyonce.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Addresses and passwords on a machine whose locale has digits of its own. */
class LocalesTests {

    private final Locale before = Locale.getDefault();

    @BeforeEach
    void go() {
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
    }

    @AfterEach
    void comeBack() {
        Locale.setDefault(before);
    }

    @Test
    void endpointHasAPort() {
        assertThat(LocalSqs.endpoint(9324)).hasPort(9324);
    }

    @Test
    void verifierHasANumberOfIterations() {
        assertThat(ScramVerifier.of("secret", new byte[16])).matches("SCRAM-SHA-256\\$[0-9]+:.+");
    }
}
