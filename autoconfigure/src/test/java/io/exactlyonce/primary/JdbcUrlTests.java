package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is told of a JDBC URL in logs and messages. */
class JdbcUrlTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://me:secret@db/shop",
                "jdbc:postgresql://me:se@secret@db/shop",
                "jdbc:postgresql://me:secret@db-1:5432,me:secret@db-2:5432/shop",
                "jdbc:postgresql://me:secret/secret@db/shop",
                "jdbc:postgresql://db/shop?user=me&password=secret",
                "jdbc:postgresql://db/shop?password=a@secret",
                "jdbc:postgresql:shop?password=secret",
                "jdbc:aws-wrapper:postgresql://me:secret@db/shop",
                "jdbc:mysql://me:secret@db-1,me:secret@db-2/shop;password=secret",
                "jdbc:oracle:thin:me/secret@db:1521/shop",
            })
    void secretsAreNotTold(String url) {
        assertThat(new JdbcUrl(url).target()).doesNotContain("secret");
        assertThat(new JdbcUrl(url).withoutSecrets()).doesNotContain("secret");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "jdbc:postgresql://db-1:5432/shop?user=me | db-1:5432/shop",
                "jdbc:postgresql://db-1:5432,[::1]:5433/shop | db-1:5432,[::1]:5433/shop",
                "jdbc:postgresql://me:secret@db-1,you:secret@db-2/shop | db-1,db-2/shop",
                "jdbc:postgresql:shop | shop",
                "jdbc:aws-wrapper:postgresql://db/shop | db/shop",
                "jdbc:otel:postgresql://db/shop | db/shop",
                "nonsense | nonsense",
            })
    void hostsAndDatabaseAreTold(String url, String target) {
        assertThat(new JdbcUrl(url).target()).isEqualTo(target);
    }
}
