public import XCTest

// Methods of Apple's XCTest that XCTest on Linux lacks. They are compiled into the tests themselves, so that the
// library of the shims needs no XCTest.

extension XCTestCase {
    /// Waits until all expectations are fulfilled, without a limit of time.
    @_alwaysEmitIntoClient @_disfavoredOverload
    public func fulfillment(of expectations: [XCTestExpectation], enforceOrder: Bool = false) async {
        await fulfillment(of: expectations, timeout: 1_000_000, enforceOrder: enforceOrder)
    }

    /// Waits until all expectations are fulfilled, without a limit of time.
    @_alwaysEmitIntoClient @_disfavoredOverload
    public func wait(for expectations: [XCTestExpectation], enforceOrder: Bool = false) {
        wait(for: expectations, timeout: 1_000_000, enforceOrder: enforceOrder)
    }
}
