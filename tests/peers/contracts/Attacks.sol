// SPDX-License-Identifier: MIT
// Accounts whose owner can change within one call, and what an attacker would send to change it: evm.mjs
// tries to sign in with them. The accounts themselves are honest.
pragma solidity 0.8.37;

import {NO, YES, signerOf} from "Wallets.sol";

/// A token that anyone can buy from its holder: ownership as in ERC-721, and a price.
contract Tokens {
    mapping(uint256 => address) public ownerOf;
    mapping(uint256 => uint256) public price;

    function mint(address to, uint256 token, uint256 asked) external {
        require(ownerOf[token] == address(0), "minted");
        ownerOf[token] = to;
        price[token] = asked;
    }

    function buy(uint256 token, address to) external payable {
        require(msg.value >= price[token], "too little");
        ownerOf[token] = to;
    }
}

/// An account that belongs to the holder of a token, as in ERC-6551: each call looks up the owner.
contract TokenAccount {
    Tokens immutable tokens;
    uint256 immutable id;

    constructor(Tokens collection, uint256 token) {
        tokens = collection;
        id = token;
    }

    function owner() public view returns (address) {
        return tokens.ownerOf(id);
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        address signer = signerOf(hash, signature);
        return signer != address(0) && signer == owner() ? YES : NO;
    }
}

/// A wallet that is deployed but has no owner yet: the first caller sets the owner.
contract UninitializedWallet {
    address public owner;

    function initialize(address first) external {
        require(owner == address(0), "initialized");
        owner = first;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        address signer = signerOf(hash, signature);
        return signer != address(0) && signer == owner ? YES : NO;
    }
}

/// A proxy with a wallet behind it, whose own storage is not initialized.
contract Proxy {
    address immutable code;

    constructor(address implementation) {
        code = implementation;
    }

    fallback() external payable {
        address to = code;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

/// A "factory" with its own money that makes the calls it is told to make, one and then another, and keeps
/// nothing back.
contract Preparation {
    constructor() payable {}

    function prepare(address to, uint256 value, bytes calldata data) external {
        (bool done, ) = to.call{value: value}(data);
        require(done, "not prepared");
    }

    /// Makes a call and then asks the account itself, like a wrapper's factory that tries to answer in the
    /// account's place.
    function prepareAndAnswer(address to, bytes calldata data) external returns (bytes4) {
        (bool done, ) = to.call(data);
        require(done, "not prepared");
        return YES;
    }

    function end() external {
        selfdestruct(payable(tx.origin));
    }

    function returnMuch() external pure {
        assembly {
            mstore(0, shl(224, 0x1626ba7e))
            return(0, 40000)
        }
    }

    receive() external payable {}
}

/// A wallet that accepts everyone who seems to be a simulation: the zero address, or a caller without code
/// and money.
contract TrustsSimulations {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        return tx.origin == address(0) || msg.sender == address(0) ? YES : NO;
    }
}

/// An account that a key delegates to (EIP-7702), which accepts the key's plain signatures and those of a
/// second key.
contract SharedDelegate {
    address public immutable second;

    constructor(address other) {
        second = other;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        address signer = signerOf(hash, signature);
        return signer != address(0) && (signer == address(this) || signer == second) ? YES : NO;
    }
}
