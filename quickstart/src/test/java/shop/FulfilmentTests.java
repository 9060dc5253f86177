package shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.test.kit.Delivered;
import io.exactlyonce.test.kit.ExactlyOnceDriver;
import io.exactlyonce.test.kit.ExactlyOnceTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@ExactlyOnceTest
class FulfilmentTests {

    @Test
    void duplicateIsSuppressedAfterSuccess(@Autowired ExactlyOnceDriver driver) {
        Delivered first = driver.deliverPayload(new Order("A-1"));

        assertThat(first).wasHandled();
        assertThat(driver.duplicate(first)).wasSuppressed();
    }
}
