import BLERuntime

extension Machine {
    /// Makes the whole process inhabit this machine: managers created by any thread, queue, timer or task from now on
    /// use its radio, unless they are created within `inhabit`.
    ///
    /// This is for tests that run one after the other, such as those of XCTest, which call it in `setUp()`. It applies
    /// until it is called for another machine or ``World/leaveProcess()`` is called. A process inhabits one machine at
    /// a time, so tests of Swift Testing, which run in parallel, use the form with a closure.
    public func inhabitProcessWide() { ProcessMachine.move(to: self) }

    /// Makes the whole process inhabit this machine while `body` runs.
    ///
    /// Concurrent calls, for example by other tests, wait until `body` has returned. So tests that use this method run
    /// one after the other, but in parallel with tests that only use `inhabit`. `body` must not call this method again.
    ///
    /// ```swift
    /// @Test func reading() async {
    ///     let world = World(seed: 7)
    ///     await world.machine("phone").inhabitProcessWide {
    ///         await world.advance(by: .seconds(10))
    ///         #expect(Thermometers.shared.latest == 21.5)
    ///     }
    /// }
    /// ```
    public func inhabitProcessWide<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await ProcessMachine.reserve(for: self)
        defer { ProcessMachine.release() }
        return try await inhabit(body)
    }
}

extension World {
    /// Ends the effect of ``Machine/inhabitProcessWide()``.
    public static func leaveProcess() { ProcessMachine.move(to: nil) }
}
