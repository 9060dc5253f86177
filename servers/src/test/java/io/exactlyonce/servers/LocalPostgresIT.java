package io.exactlyonce.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

class LocalPostgresIT {

    private static final LocalPostgres POSTGRES =
            LocalPostgres.start(settings -> settings.setServerConfig("max_connections", "20"));

    @AfterAll
    static void stop() {
        POSTGRES.close();
    }

    @Test
    void settingsAddToThoseThatMakeItWaitForTheDisk() {
        assertThat(setting("fsync")).isEqualTo("on");
        assertThat(setting("synchronous_commit")).isEqualTo("on");
        assertThat(setting("max_connections")).isEqualTo("20");
    }

    @Test
    void createdDatabaseIsApartFromTheOther() throws SQLException {
        String url = POSTGRES.createDatabase("shop");
        JdbcClient.create(POSTGRES.dataSource("shop"))
                .sql("CREATE TABLE orders ()")
                .update();

        assertThat(tables("shop")).isEqualTo(1);
        assertThat(tables("postgres")).isZero();
        try (var connection = DriverManager.getConnection(url, POSTGRES.getUsername(), POSTGRES.getPassword())) {
            assertThat(connection.getCatalog()).isEqualTo("shop");
        }
    }

    private static String setting(String name) {
        return JdbcClient.create(POSTGRES.dataSource())
                .sql("SHOW " + name)
                .query(String.class)
                .single();
    }

    private static int tables(String database) {
        return JdbcClient.create(POSTGRES.dataSource(database))
                .sql("SELECT count(*) FROM pg_tables WHERE tablename = 'orders'")
                .query(Integer.class)
                .single();
    }
}
