package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;

class SchemaRuntimeHintsTests {

    @Test
    void schemaIsFound() {
        RuntimeHints hints = new RuntimeHints();

        SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
                .load(RuntimeHintsRegistrar.class)
                .forEach(registrar -> registrar.registerHints(hints, null));

        assertThat(hints)
                .matches(RuntimeHintsPredicates.resource()
                        .forResource("io/exactlyonce/claim/postgres/schema/exactly_once_claim.sql"));
    }
}
