package io.exactlyonce.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.env.MockEnvironment;

class SchemasTests {

    private static final String URL = "jdbc:postgresql://database.invalid/shop";

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "?currentSchema=shop; ?currentSchema=shop; shop",
                "?sslmode=require&currentSchema=Shop&user=app; ?currentSchema=Shop; shop",
                "?currentSchema=%22Shop%22%2C%20public; ?currentSchema=%22Shop%22%2C%20public; Shop public",
                "?currentSchema=\"$user\",my-shop,pg_temp; ?currentSchema=\"$user\",my-shop,pg_temp; my-shop",
                "?options=-c%20search_path=shop,audit%20-c%20statement_timeout=5; "
                        + "?options=-c%20search_path=shop,audit%20-c%20statement_timeout=5; shop audit"
            })
    void schemasOfTheUrlAreKeptAndCreated(String query, String kept, String names) {
        Schemas schemas = Schemas.of(new MockEnvironment().withProperty("spring.datasource.url", URL + query));

        assertThat(schemas.parameters()).isEqualTo(kept);
        assertThat(schemas.names()).containsExactly(names.split(" "));
    }

    @Test
    void schemasOfTheApplicationsPoolAreCreated() {
        Schemas schemas = Schemas.of(new MockEnvironment()
                .withProperty("spring.datasource.hikari.schema", "shop")
                .withProperty("spring.datasource.hikari.data-source-properties.currentSchema", "audit"));

        assertThat(schemas).isEqualTo(new Schemas("", List.of("shop", "audit")));
    }

    @Test
    void urlWithoutASchemaNamesNone() {
        assertThat(Schemas.of(new MockEnvironment().withProperty("spring.datasource.url", URL + "?sslmode=require")))
                .isEqualTo(Schemas.NONE);
        assertThat(Schemas.of(new MockEnvironment())).isEqualTo(Schemas.NONE);
    }
}
