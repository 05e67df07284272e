// SPDX-License-Identifier: MIT
// Well-behaved contract wallets: evm.mjs signs in with them.
pragma solidity 0.8.37;

/// The address of the key that made a signature of 65 bytes.
function signerOf(bytes32 hash, bytes calldata signature) pure returns (address) {
    if (signature.length != 65) return address(0);
    return ecrecover(hash, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
}

bytes4 constant YES = 0x1626ba7e;
bytes4 constant NO = 0xffffffff;

/// A wallet with one owner, who can be replaced.
contract OwnedWallet {
    address public owner;

    constructor(address first) {
        owner = first;
    }

    function setOwner(address next) external {
        require(msg.sender == owner, "not the owner");
        owner = next;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return signerOf(hash, signature) == owner ? YES : NO;
    }
}

/// Creates such wallets at predictable addresses.
contract WalletFactory {
    uint256 public made;

    function make(address owner, bytes32 salt) external returns (address) {
        made += 1;
        return address(new OwnedWallet{salt: salt}(owner));
    }

    function addressOf(address owner, bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(OwnedWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}

/// A wallet that checks signatures only after someone has called `makeReady`.
contract UnreadyWallet {
    address immutable owner;
    bool public ready;

    constructor(address first) {
        owner = first;
    }

    function makeReady() external {
        ready = true;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        require(ready, "not ready");
        return signerOf(hash, signature) == owner ? YES : NO;
    }
}

/// The contract that an account delegates to with EIP-7702. It accepts signatures by the account's own key
/// with a byte in front.
contract Delegate {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 66 || signature[0] != 0x01) return NO;
        return signerOf(hash, signature[1:]) == address(this) ? YES : NO;
    }
}
