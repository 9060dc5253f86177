package io.exactlyonce.chaos.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class KeysTests {

    @Test
    void keyIsFoundInUnreadableBodies() {
        assertThat(Keys.of("{\"key\":\"mails-7\",\"work\":3}")).isEqualTo("mails-7");
        assertThat(Keys.of("{\"key\":\"mails-7\", and then nothing")).isEqualTo("mails-7");
    }

    @Test
    void bodyWithoutKeyIsRefused() {
        assertThatThrownBy(() -> Keys.of("{}")).hasMessageContaining("No key");
    }
}
